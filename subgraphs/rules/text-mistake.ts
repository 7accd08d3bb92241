/** Texts that callers give, against their limits. Words that name the field. */
type Absent = null | undefined;

/**
 * Counted as people count: a character outside the basic plane is one, although it takes two code
 * units.
 */
export const charactersOf = (text: string): number => Array.from(text).length;

/**
 * What is wrong with a text that may be absent, in words that name the field; null when nothing is.
 * PostgreSQL holds neither U+0000 nor half characters.
 */
export const textMistake = (
  name: string,
  text: string | Absent,
  min: number,
  max_chars: number,
): string | null => {
  if (text === null || text === undefined) return null;
  if (!text.isWellFormed() || text.includes('\0'))
    return `${name}: expected a text without U+0000 and unpaired surrogates`;
  if (text.length >= min && text.length <= max_chars) return null;
  const came = charactersOf(text);
  return came >= min && came <= max_chars
    ? null
    : `${name}: expected ${min} to ${max_chars} characters, got ${came}`;
};
