/**
 * Parses bytes as JSON strictly: UTF-8, no duplicate fields, and numbers as they were written.
 * `1.0`, `1e2` and numbers beyond 2^53-1 are not integers, although JSON.parse would make integers
 * of them.
 */
import { isUtf8 } from 'node:buffer';
import { keepWritten, mayBeInexact, withoutMark } from '../gateway/graphql/exact-numbers.ts';
import { duplicateMistake } from '../gateway/graphql/duplicate-field.ts';

/**
 * The value, or the mistake in the bytes as a whole. A number that is not written as a safe integer
 * is a symbol that holds its text: no schema accepts a symbol, so validation refuses it at its
 * place.
 */
export type ReadBody = { readonly value: unknown } | { readonly mistake: string };

/**
 * A key or text that no record can hold: `__proto__`, NUL, half of a surrogate pair; escaped or
 * not.
 */
const maybeUnsafe = /__proto__|\\u00(?:00|5[fF])|\\u[dD][89a-fA-F]/;

class UnsafeText extends Error {}

const safe = (text: string): void => {
  if (text === '__proto__') throw new UnsafeText('the name __proto__ is not allowed');
  if (text.includes('\0')) throw new UnsafeText('the character U+0000 is not allowed in texts');
  if (!text.isWellFormed()) throw new UnsafeText('unpaired surrogates are not allowed in texts');
};

const exactly = (key: string, value: unknown, context?: { source?: string }): unknown => {
  safe(key);
  if (typeof value === 'string' && value !== '__proto__') safe(value);
  const kept = keepWritten(key, value, context);
  return typeof kept === 'number' && !Number.isSafeInteger(kept)
    ? Symbol(context?.source ?? String(kept))
    : kept;
};

/**
 * Reads a body that is not empty. The slow way, which sees each number as it was written, is taken
 * only when the text may need it.
 */
export const readBody = (bytes: Buffer): ReadBody => {
  if (!isUtf8(bytes)) return { mistake: 'the body is not valid UTF-8' };
  const text = withoutMark(bytes.toString('utf8'));
  try {
    const careful = mayBeInexact(text) || maybeUnsafe.test(text);
    const value: unknown = careful ? JSON.parse(text, exactly) : JSON.parse(text);
    const mistake = duplicateMistake(text, value);
    return mistake === null ? { value } : { mistake };
  } catch (error) {
    // The parser's own message repeats the text, which may hold a card number.
    return {
      mistake:
        error instanceof UnsafeText ? `the body: ${error.message}` : 'the body is not valid JSON',
    };
  }
};
