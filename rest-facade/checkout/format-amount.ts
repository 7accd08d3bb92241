/** Amounts as a buyer reads them. */

/** Decimal places of a currency: ISO 4217's, as Intl knows them. */
const placesOf = (currency: string): number =>
  new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
    .maximumFractionDigits ?? 2;

/**
 * `amount` (minor units) in the currency, as the locale writes it; whole amounts without zeros
 * after the point. The number goes through text, so that the largest amounts keep every digit.
 */
export const formatAmount = (amount: number, currency: string, locale: string): string => {
  const places = placesOf(currency);
  const digits = String(amount).padStart(places + 1, '0');
  const decimal = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    currencyDisplay: 'narrowSymbol',
    trailingZeroDisplay: 'stripIfInteger',
  });
  // A text of digits is what Intl reads exactly; the library's type only names its template.
  return format.format(decimal as `${number}`);
};
