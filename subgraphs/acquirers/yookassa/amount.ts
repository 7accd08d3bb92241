/**
 * Amounts as YooKassa writes them: rubles with a point and two digits. Converted digit by digit,
 * never as floating point numbers.
 */
import { minorUnits, type MinorUnits } from '../../rules/money.ts';

/** An amount as its API has it. */
export interface WireAmount {
  readonly value: string;
  readonly currency: string;
}

/** Minor units as a decimal text: 10050n is `100.50`. */
export const wireAmount = (amount: MinorUnits, currency: string): WireAmount => ({
  value: `${amount / 100n}.${String(amount % 100n).padStart(2, '0')}`,
  currency,
});

/** An amount of the currency in minor units; null when it is of another, or cannot be read. */
export const amountIn = (
  { value, currency: of }: WireAmount,
  currency: string,
): MinorUnits | null => {
  const [, whole, part] = /^(\d{1,16})\.(\d{2})$/.exec(value) ?? [];
  if (whole === undefined || part === undefined || of !== currency) return null;
  return minorUnits(BigInt(whole) * 100n + BigInt(part));
};

/** Whether what the bank repeats is what was ordered, to the kopeck. */
export const isSameAmount = (amount: WireAmount, ordered: MinorUnits, currency: string): boolean =>
  amountIn(amount, currency) === ordered;
