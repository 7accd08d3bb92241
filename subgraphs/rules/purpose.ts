/**
 * Forbidden purposes. Words that a `description` may not hold. A word is found as a whole word,
 * whatever its case, in any script; a `*` at its end stands for any ending, since Russian words
 * change theirs.
 */
import { isPlainText } from './block.ts';
import { charactersOf } from './text-mistake.ts';

/**
 * Both sides of a comparison in one spelling: compatible forms of a letter are one, ё is е, as most
 * people write it, and invisible characters do not part a word.
 */
const folded = (text: string): string =>
  text
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .toLowerCase()
    .replaceAll('ё', 'е')
    .replaceAll(/\s+/g, ' ');

/**
 * A word as the list keeps it; null when it holds no letter or digit, or a `*` elsewhere than at
 * its end.
 */
export const forbiddenWord = (text: string): string | null => {
  const word = folded(text).trim();
  return isPlainText(word) && charactersOf(word) <= 200 && /^[^*]*[\p{L}\p{N}][^*]*\*?$/u.test(word)
    ? word
    : null;
};

const pattern = (word: string): string =>
  word.endsWith('*') ? `${RegExp.escape(word.slice(0, -1))}[\\p{L}\\p{N}]*` : RegExp.escape(word);

/**
 * Makes the search for any of the words: it gives the part of a text that is forbidden, or null.
 */
export const purposeSearch = (words: readonly string[]): ((text: string) => string | null) => {
  if (words.length === 0) return () => null;
  const any = new RegExp(
    `(?<![\\p{L}\\p{N}])(?:${words.map(pattern).join('|')})(?![\\p{L}\\p{N}])`,
    'u',
  );
  return (text) => any.exec(folded(text))?.[0] ?? null;
};
