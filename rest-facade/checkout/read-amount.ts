/** Amounts as a buyer types them. */

/** How many digits a currency has behind the point; ISO 4217's, as Intl knows them. */
const placesOf = (currency: string): number =>
  new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
    .maximumFractionDigits ?? 2;

/**
 * The typed amount in minor units: with or without a fraction behind a point or a comma, with
 * spaces or not. Null when it is no amount of the currency.
 */
export const readAmount = (typed: string, currency: string): number | null => {
  const places = placesOf(currency);
  const [, whole = '', fraction = ''] =
    /^(\d{1,13})(?:[.,](\d+))?$/.exec(typed.replaceAll(/[\s\u00a0\u202f]/g, '')) ?? [];
  if (whole === '' || fraction.length > places) return null;
  const amount = Number(whole + fraction.padEnd(places, '0'));
  return Number.isSafeInteger(amount) ? amount : null;
};
