/** Amounts as people read and write them. */
import { amountOf } from '../../rest-facade/checkout/browser/amount-rules.js';
import { decimalOf, digitsOf } from '../../schema/currencies.ts';
import { formatMoney, signsOf } from '../../schema/money-format.ts';

/** What stands in a tile in its smallest letters. */
const exact_max_chars = 15;

/** An amount in minor units, always with the currency's digits: a column of them lines up. */
export const money = (amount: number, currency: string, locale: string): string =>
  formatMoney(amount, currency, locale);

/** An amount as in `money`, in thousands and millions where it is longer than a tile is wide. */
export const shortMoney = (amount: number, currency: string, locale: string): string => {
  const exact = money(amount, currency, locale);
  if (exact.length <= exact_max_chars) return exact;
  return formatMoney(amount, currency, locale, { notation: 'compact', maximumFractionDigits: 2 });
};

/** An amount as it stands in a field: `1200.00`. */
export const amountText: (amount: number, currency: string) => string = decimalOf;

/** The same as a person of this language writes it: `1 200,00`. */
export const amountFieldText = (amount: number, currency: string, locale: string): string => {
  const text = decimalOf(amount, currency) as `${number}`;
  const digits = digitsOf(currency);
  return new Intl.NumberFormat(locale, { minimumFractionDigits: digits }).format(text);
};

/** Minor units of what a person typed; null when it is no amount of the currency. */
export const readAmount = (text: string, currency: string): number | null =>
  amountOf(text, digitsOf(currency), signsOf(currency));
