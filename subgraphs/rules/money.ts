/**
 * Money: minor units, bigint inside, never negative; direction belongs to the posting.
 * docs/contract.md#money-on-the-wire has the limits.
 */
declare const unit: unique symbol;

/** An amount in minor units (kopecks for RUB, cents for USD), never negative. */
export type MinorUnits = bigint & { readonly [unit]: 'minor units' };

/** The currency of an amount that names none. Payouts and charges are always in it. */
export const defaultCurrency = 'RUB';

/** The largest amount that every JSON reader keeps exact: 2^53-1. */
export const largestAmount = 9_007_199_254_740_991n;

/**
 * Brands an amount. Throws when it is negative or beyond 2^53-1: both are broken invariants, not
 * bad input.
 */
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
