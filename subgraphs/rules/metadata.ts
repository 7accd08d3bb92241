/** The merchant's own pairs on an object, within docs/contract.md#limits. */
import { textMistake } from './text-mistake.ts';

export type Metadata = Readonly<Record<string, string>>;

const pairs_max = 20;
const name_max_chars = 128;
const value_max_chars = 500;

/**
 * Names are repeated in messages when they are plain words: what looks like a number may be that of
 * a card.
 */
const valueName = (name: string): string =>
  /^[A-Za-z_.-]{1,64}$/.test(name) ? `metadata.${name}` : 'a value in metadata';

/** What is wrong with metadata; empty when nothing is, or there is none. */
export const metadataMistakes = (metadata: Metadata | null | undefined): (string | null)[] => {
  const pairs = Object.entries(metadata ?? {});
  if (pairs.length > pairs_max)
    return [`metadata: expected up to ${pairs_max} pairs, got ${pairs.length}`];
  return pairs.flatMap(([name, value]) => [
    textMistake('a name in metadata', name, 1, name_max_chars),
    textMistake(valueName(name), value, 0, value_max_chars),
  ]);
};
