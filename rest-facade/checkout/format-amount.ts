/** Amounts as a buyer reads them. */
import { digitsOf } from '../../schema/currencies.ts';
import { formatMoney } from '../../schema/money-format.ts';

/**
 * `amount` (minor units) in the currency, as the locale writes it; whole amounts without zeros
 * after the point, except where three digits may stand behind it: a buyer who types what the page
 * shows must not be misread.
 */
export const formatAmount = (amount: number, currency: string, locale: string): string =>
  formatMoney(
    amount,
    currency,
    locale,
    digitsOf(currency) < 3 ? { trailingZeroDisplay: 'stripIfInteger' } : {},
  );
