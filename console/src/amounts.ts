/** Amounts of form fields. */
import { amountOf } from '../../rest-facade/checkout/browser/amount-rules.js';
import { decimalOf, digitsOf } from '../../schema/currencies.ts';
import { signsOf } from '../../schema/money-format.ts';

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
