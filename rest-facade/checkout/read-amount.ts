/** The amounts of a currency that a buyer may type. */
import { amountOf } from './browser/amount-rules.js';

/** How many digits a currency has behind the point; ISO 4217's, as Intl knows them. */
export const placesOf = (currency: string): number =>
  new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
    .maximumFractionDigits ?? 2;

/** The typed amount in minor units; null when it is no amount of the currency. */
export const readAmount = (typed: string, currency: string): number | null =>
  amountOf(typed, placesOf(currency));
