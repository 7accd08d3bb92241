/**
 * The sum of a link's payments. Nothing bounds it: two of the largest amount leave what one amount
 * keeps, and a thousand what a bigint holds. A payment has succeeded whatever they come to, so that
 * the sum is kept in two columns (decision A-322).
 */
import type { PaymentLink } from './entities.ts';

type PaidSum = Pick<PaymentLink, 'amountPaid' | 'amountPaidOver'>;

const over = 2n ** 62n;

/** What was paid through a link. */
export const paidSum = ({ amountPaid, amountPaidOver }: PaidSum): bigint =>
  amountPaid + (amountPaidOver ?? 0n) * over;

/** A sum as it is kept. */
export const keptSum = (sum: bigint): PaidSum => ({
  amountPaid: sum % over,
  amountPaidOver: sum < over ? null : sum / over,
});
