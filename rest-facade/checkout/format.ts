/** Amounts and moments as a buyer reads them. */
import { digitsOf } from '../../schema/currencies.ts';
import { formatMoney } from '../../schema/money-format.ts';
import type { Words } from './words/words.ts';

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

/** Moments are in Moscow's time, so that a print means the same everywhere. */
const timeZone = 'Europe/Moscow';

/** Day and minute of `instant` (RFC 3339) in Moscow, with the name of that time. */
export const formatTime = (instant: string, { locale, moscowTime }: Words): string => {
  const format = new Intl.DateTimeFormat(locale, {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone,
  });
  return `${format.format(new Date(instant))} ${moscowTime}`;
};

/** Day of `instant` (RFC 3339) in Moscow. */
export const formatDay = (instant: string, { locale }: Words): string =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone }).format(new Date(instant));
