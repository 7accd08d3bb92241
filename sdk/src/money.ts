/** Money is an integer in minor units (kopecks, cents), as on the wire. */

const placesOf = (currency: string): number =>
  new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
    .maximumFractionDigits ?? 2;

/** Minor units as a decimal text, exactly: `decimalOf(149_90, 'RUB')` is `149.90`. */
export const decimalOf = (amount: number | bigint, currency: string): string => {
  const places = placesOf(currency);
  const value = BigInt(amount);
  const digits = String(value < 0n ? -value : value).padStart(places + 1, '0');
  const sign = value < 0n ? '-' : '';
  if (places === 0) return `${sign}${digits}`;
  return `${sign}${digits.slice(0, -places)}.${digits.slice(-places)}`;
};

/** Minor units as people read them: `formatMoney(149_90, 'RUB', 'ru')` is `149,90 ₽`. */
export const formatMoney = (amount: number | bigint, currency: string, locale?: string): string =>
  new Intl.NumberFormat(locale, { style: 'currency', currency }).format(
    // Intl reads a text of digits exactly, as large as it is; its type names numbers alone.
    decimalOf(amount, currency) as `${number}`,
  );

/**
 * The minor units of a decimal text: `parseMoney('149.9', 'RUB')` is 14990. Throws a RangeError for
 * anything but digits with one point or comma, more places than the currency has, and what JSON
 * cannot carry exactly.
 */
export const parseMoney = (text: string, currency: string): number => {
  const places = placesOf(currency);
  const [, whole = '', part = ''] = /^(\d+)(?:[.,](\d+))?$/.exec(text.trim()) ?? [];
  const amount = Number(`${whole}${part.padEnd(places, '0')}`);
  if (whole === '' || part.length > places || !Number.isSafeInteger(amount))
    throw new RangeError(`not an amount of ${currency}: ${text}`);
  return amount;
};
