/** How a message names a field of a body: never with a card number or a secret. */

import { repeatable } from '../../subgraphs/kernel/rules/repeatable.ts';

/** A name as a message may repeat it. */
export const nameOf = (name: string): string =>
  repeatable(name) && /^[\w.-]+$/.test(name) ? name : 'a field with an unusual name';

/** The path to a field as mistakes show it. */
export const fieldAt = (path: readonly (string | number)[]): string =>
  path
    .map((step, place) =>
      typeof step === 'number' ? `[${step}]` : `${place === 0 ? '' : '.'}${nameOf(step)}`,
    )
    .join('');
