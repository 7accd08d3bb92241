/**
 * Accounting policy: the list of postings per business fact, in the words of an accountant.
 * Contract "Ledger entry" names the types; decision D-36 the fee. Every posting moves one amount from one account to another,
 * so the books balance by construction.
 */
import type { MinorUnits } from './money.ts';

/** The accounts. `merchant` is per shop; the others are per merchant, since every account lives on its merchant's shard. */
export const accounts = ['merchant', 'merchant_reserved', 'platform_fees', 'acquirer_clearing', 'payout_clearing', 'suspense'] as const;
export type Account = (typeof accounts)[number];

export const postingTypes = ['payment', 'fee', 'refund', 'payout', 'payout_fee', 'settlement', 'adjustment'] as const;
export type PostingType = (typeof postingTypes)[number];

/** `amount` moves from one account to another. */
export interface Posting {
  readonly type: PostingType;
  readonly from: Account;
  readonly to: Account;
  readonly amount: MinorUnits;
}

const moved = (postings: readonly Posting[]): readonly Posting[] => postings.filter(({ amount }) => amount > 0n);

/** The bank confirmed a payment: the acquirer owes us the amount, we owe it to the merchant less our fee. */
export const paymentSucceeded = (payment: { amount: MinorUnits; fee: MinorUnits }): readonly Posting[] =>
  moved([
    { type: 'payment', from: 'acquirer_clearing', to: 'merchant', amount: payment.amount },
    { type: 'fee', from: 'merchant', to: 'platform_fees', amount: payment.fee },
  ]);

/** A merchant was paid out what it was owed: we owe it less, and the money is on its way. */
export const settlementRecorded = ({ amount }: { amount: MinorUnits }): readonly Posting[] =>
  moved([{ type: 'settlement', from: 'merchant', to: 'payout_clearing', amount }]);

/** An operator corrected what we owe a merchant; what stands against it is explained elsewhere, hence suspense. */
export const adjustmentRecorded = ({ amount, inFavour }: { amount: MinorUnits; inFavour: boolean }): readonly Posting[] =>
  moved([inFavour ? { type: 'adjustment', from: 'suspense', to: 'merchant', amount } : { type: 'adjustment', from: 'merchant', to: 'suspense', amount }]);
