/** Formats and parses amounts. */
import { amountOf } from '../../rest-facade/checkout/browser/amount-rules.js';
import { decimalOf, digitsOf } from '../../schema/currencies.ts';
import { formatMoney, signsOf } from '../../schema/money-format.ts';

/** An amount in minor units, always with the currency's digits, so that columns align. */
export { formatMoney as money };

/** The parts of an amount that a tile shows in small letters. */
const exact_max_chars = 15;

/**
 * An amount as in `money`, abbreviated to thousands or millions where it is too long for a tile.
 */
export const shortMoney = (amount: number, currency: string, locale: string): string => {
  const exact = formatMoney(amount, currency, locale);
  if (exact.length <= exact_max_chars) return exact;
  return formatMoney(amount, currency, locale, { notation: 'compact', maximumFractionDigits: 2 });
};

/** An amount as a form field holds it: `1200.00`. */
export const amountText: (amount: number, currency: string) => string = decimalOf;

/** The same in this language's notation: `1 200,00`. */
export const amountFieldText = (amount: number, currency: string, locale: string): string => {
  const text = decimalOf(amount, currency) as `${number}`;
  const digits = digitsOf(currency);
  return new Intl.NumberFormat(locale, { minimumFractionDigits: digits }).format(text);
};

/** Minor units of a typed amount; null when it is not an amount of the currency. */
export const readAmount = (text: string, currency: string): number | null =>
  amountOf(text, digitsOf(currency), signsOf(currency));
