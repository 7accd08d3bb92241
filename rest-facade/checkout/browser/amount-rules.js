/**
 * Amounts as people type them: the one parser of the pages and the console, used as the person types
 * and by the server.
 */

/**
 * Takes the currency's sign or code off a text, before or behind the number.
 * @param {string} text without spaces
 * @param {readonly string[]} signs longest first
 */
const withoutSign = (text, signs) => {
  const small = text.toLowerCase();
  for (const sign of signs.map((one) => one.toLowerCase())) {
    if (small.startsWith(sign)) return text.slice(sign.length);
    if (small.endsWith(sign)) return text.slice(0, -sign.length);
  }
  return text;
};

/**
 * The typed amount in minor units of a currency with `digits` behind the point; null when it is
 * none. A point or a comma stands before the fraction, spaces or commas between thousands; a single
 * comma stands before a fraction if the currency can have as many digits as follow it: `1,500` is
 * one and a half KWD, and 1500 RUB.
 * @param {string} typed
 * @param {number} digits
 * @param {readonly string[]} signs what may stand beside the number, longest first
 * @returns {number | null}
 */
export const amountOf = (typed, digits, signs) => {
  const text = withoutSign(typed.replaceAll(/\s/g, ''), signs);
  const plain = /^(\d{1,16})(?:[.,](\d*))?$/.exec(text);
  const grouped = /^([1-9]\d{0,2}(?:,\d{3})+)(?:\.(\d*))?$/.exec(text);
  const found = [plain, grouped].find((one) => one && (one[2] ?? '').length <= digits);
  if (!found) return null;
  const [, whole = '', fraction = ''] = found;
  const amount = Number(whole.replaceAll(',', '') + fraction.padEnd(digits, '0'));
  return Number.isSafeInteger(amount) ? amount : null;
};
