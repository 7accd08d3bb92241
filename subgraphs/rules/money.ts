/**
 * Money: minor units, bigint inside, never negative; direction belongs to the posting.
 * docs/contract.md#money-on-the-wire has the limits.
 */
import { digitsOf } from '../../schema/currencies.ts';

declare const unit: unique symbol;

/** An amount in minor units (kopecks for RUB, cents for USD), never negative. */
export type MinorUnits = bigint & { readonly [unit]: 'minor units' };

/** The currency of an amount that names none. Payouts and charges are always in it. */
export const defaultCurrency = 'RUB';

/** The largest amount that every JSON reader keeps exact: 2^53-1. */
export const largestAmount = 9_007_199_254_740_991n;

/** Brands an amount. One that is negative or beyond 2^53-1 is a broken invariant: it throws. */
export const minorUnits = (amount: bigint | number | string): MinorUnits => {
  const value = BigInt(amount);
  if (value < 0n || value > largestAmount) throw new RangeError(`not an amount of money: ${value}`);
  return value as MinorUnits;
};

/** The sum; throws when it leaves the range. */
export const plus = (a: MinorUnits, b: MinorUnits): MinorUnits => minorUnits(a + b);

/** `amount` x `rate_bps` (hundredths of a percent), rounded half up. */
export const shareOf = (amount: MinorUnits, rate_bps: number): MinorUnits =>
  minorUnits((amount * BigInt(rate_bps) + 5_000n) / 10_000n);

// Amounts in USDT. At the operator-set rate of the currency when the payment was created; null
// without a rate.

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
