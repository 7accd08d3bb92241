/** Amounts as a buyer reads them. */
import { digitsOf } from '../../schema/currencies.ts';
import { formatMoney } from '../../schema/money-format.ts';

/**
 * `amount` (minor units) in the currency and locale. Whole amounts have no zeros after the point,
 * except where three digits may follow it: a buyer who types the shown amount must not be misread.
 */
export const formatAmount = (amount: number, currency: string, locale: string): string =>
  formatMoney(
    amount,
    currency,
    locale,
    digitsOf(currency) < 3 ? { trailingZeroDisplay: 'stripIfInteger' } : {},
  );
