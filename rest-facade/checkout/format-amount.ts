/** Amounts as a buyer reads them. */

/** How a locale writes a currency. Making one takes longer than all that it writes on a page. */
const formats = new Map<string, Intl.NumberFormat>();

const formatOf = (currency: string, locale: string): Intl.NumberFormat => {
  const name = `${locale} ${currency}`;
  const format =
    formats.get(name) ??
    new Intl.NumberFormat(locale, {
      style: 'currency',
      currency,
      currencyDisplay: 'narrowSymbol',
      trailingZeroDisplay: 'stripIfInteger',
    });
  formats.set(name, format);
  return format;
};

/**
 * `amount` (minor units) in the currency, as the locale writes it; whole amounts without zeros
 * after the point. The number goes through text, so that the largest amounts keep every digit.
 */
export const formatAmount = (amount: number, currency: string, locale: string): string => {
  const format = formatOf(currency, locale);
  // ISO 4217's, as Intl knows them.
  const places = format.resolvedOptions().maximumFractionDigits ?? 2;
  const digits = String(amount).padStart(places + 1, '0');
  const decimal = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
  // A text of digits is what Intl reads exactly; the library's type only names its template.
  return format.format(decimal as `${number}`);
};
