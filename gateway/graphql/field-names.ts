/** How a message names a field of a body: never with a card number or a secret (decision D-06). */

/**
 * Long runs of digits may be card or account numbers; these prefixes are those of keys and secrets.
 */
const sensitive = /\d(?:[ -]?\d){11}|sk_(?:test|live)_|thm_|whs_/i;
const repeated_max = 64;

/** Whether a message may repeat a text of the caller. */
export const repeatable = (text: string): boolean =>
  text.length <= repeated_max && !sensitive.test(text);

/** A name as a message may repeat it. */
export const nameOf = (name: string): string =>
  repeatable(name) && /^[\w.-]+$/.test(name) ? name : 'a field with an unusual name';

/** A field by the way to it, in the words of a mistake. */
export const fieldAt = (path: readonly (string | number)[]): string =>
  path
    .map((step, place) =>
      typeof step === 'number' ? `[${step}]` : `${place === 0 ? '' : '.'}${nameOf(step)}`,
    )
    .join('');
