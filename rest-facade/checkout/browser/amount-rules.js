/** Amounts as a buyer types them: pure rules, used as the buyer types and by the server. */

/**
 * The typed amount in minor units of a currency with `places` digits behind the point: with or
 * without a fraction behind a point or a comma, with spaces or not. Null when it is none.
 * @param {string} typed
 * @param {number} places
 * @returns {number | null}
 */
export const amountOf = (typed, places) => {
  const [, whole = '', fraction = ''] =
    /^(\d{1,13})(?:[.,](\d+))?$/.exec(typed.replaceAll(/[\s\u00a0\u202f]/g, '')) ?? [];
  if (whole === '' || fraction.length > places) return null;
  const amount = Number(whole + fraction.padEnd(places, '0'));
  return Number.isSafeInteger(amount) ? amount : null;
};
