/** Money is an integer in minor units (kopecks, cents), as on the wire. */

import { currencies, decimalOf, digitsOf } from './generated/currencies.ts';

export { decimalOf };

/** Formats minor units: `formatMoney(149_90, 'RUB', 'ru')` is `149,90 ₽`. */
export const formatMoney = (amount: number | bigint, currency: string, locale?: string): string =>
  new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    minimumFractionDigits: digitsOf(currency),
    maximumFractionDigits: digitsOf(currency),
  }).format(
    // Intl formats a string of digits exactly, whatever its size; its type allows only numbers.
    decimalOf(amount, currency) as `${number}`,
  );

/**
 * The minor units of a decimal text: `parseMoney('149.9', 'RUB')` is 14990. Throws a RangeError for
 * anything but digits with one point or comma, more places than the currency has, a currency that is
 * not one of ISO 4217, and what JSON cannot carry exactly.
 */
export const parseMoney = (text: string, currency: string): number => {
  const places = digitsOf(currency);
  const [, whole = '', part = ''] = /^(\d+)(?:[.,](\d+))?$/.exec(text.trim()) ?? [];
  const amount = Number(`${whole}${part.padEnd(places, '0')}`);
  if (
    !currencies.has(currency) ||
    whole === '' ||
    part.length > places ||
    !Number.isSafeInteger(amount)
  )
    throw new RangeError(`not an amount of ${currency}: ${text}`);
  return amount;
};
