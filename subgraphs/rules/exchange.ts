/**
 * Amounts in USDT. At the operator-set rate of the currency when the payment was created; null
 * without a rate.
 */
import { digitsOf } from '../../schema/currencies.ts';

/** Digits behind the point that a rate may have. */
export const rateScale_digits = 12;
/** An amount in USDT is rounded half up to this many digits, the precision of the coin itself. */
const usdtScale_digits = 6;

const written = new RegExp(String.raw`^(\d{1,9})(?:\.(\d{1,${rateScale_digits}}))?$`);

/**
 * A rate (USDT for one unit of the currency, not of its minor unit) as an integer of 10^-12; null
 * when it is not a decimal above 0.
 */
export const exchangeRate = (text: string): bigint | null => {
  const [, whole, fraction = ''] = written.exec(text) ?? [];
  if (whole === undefined) return null;
  const rate = BigInt(whole + fraction.padEnd(rateScale_digits, '0'));
  return rate > 0n ? rate : null;
};

/** A rate as text without the zeros that say nothing: `0.0125` of `00.012500`. */
export const plainRate = (text: string): string =>
  text.replaceAll(/^0+(?=\d)|\.0+$|(?<=\.\d*[1-9])0+$/g, '');

/** The amount (minor units) in USDT, exact until it is rounded half up to 6 digits. */
export const usdtOf = (amount: bigint, currency: string, rate: bigint): number => {
  const divisor = 10n ** BigInt(digitsOf(currency) + rateScale_digits - usdtScale_digits);
  const rounded = (amount * rate * 2n + divisor) / (divisor * 2n);
  const digits = rounded.toString().padStart(usdtScale_digits + 1, '0');
  return Number(`${digits.slice(0, -usdtScale_digits)}.${digits.slice(-usdtScale_digits)}`);
};
