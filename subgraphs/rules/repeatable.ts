/**
 * What a message may repeat of a caller's text: it says what came, and never a card number or a
 * secret.
 */

/**
 * Long runs of digits may be card or account numbers; these prefixes are those of keys and secrets.
 */
const sensitive = /\d(?:[ -]?\d){11}|sk_(?:test|live)_|thm_|whs_/i;
const repeated_max = 64;

/** Whether a message may repeat a text of the caller. */
export const repeatable = (text: string): boolean =>
  text.length <= repeated_max && !sensitive.test(text);

/** A text of the caller as the end of a message says it: itself, or how long it is. */
export const asCame = (text: string): string =>
  repeatable(text) ? JSON.stringify(text) : `a string of ${Array.from(text).length} characters`;
