/**
 * Accounting policy: the postings of each business fact, readable by an accountant. Every posting
 * moves one amount from one account to another, so the books balance by construction.
 */
import { enums } from '../../schema/generated/enums.ts';
import type { MinorUnits } from './money.ts';

/**
 * The accounts. `merchant` is per shop; the others are per merchant, since every account lives on
 * its merchant's shard.
 */
export const accounts = [
  'merchant',
  'merchant_reserved',
  'platform_fees',
  'acquirer_clearing',
  'payout_clearing',
  'suspense',
] as const;
export type Account = (typeof accounts)[number];

/** The types of movements that merchants see (docs/contract.md#balance-and-ledger). */
export const ledgerTypes = enums.LedgerEntryType;
export type LedgerType = (typeof ledgerTypes)[number];

/**
 * Within what a merchant owns: money set aside for something that is not final, and given back when
 * that failed. No row of the public ledger.
 */
const reserveTypes = ['reserve', 'release'] as const;

const postingTypes = [...ledgerTypes, ...reserveTypes] as const;
export type PostingType = (typeof postingTypes)[number];

/** `amount` moves from one account to another. */
export interface Posting {
  readonly type: PostingType;
  readonly from: Account;
  readonly to: Account;
  readonly amount: MinorUnits;
}

type Fact = Pick<Posting, 'amount'>;

const moved = (postings: readonly Posting[]): readonly Posting[] =>
  postings.filter(({ amount }) => amount > 0n);

/**
 * The bank confirmed a payment: the acquirer owes us the amount, we owe it to the merchant less our
 * fee.
 */
export const paymentSucceeded = ({ amount, fee }: Fact & { fee: MinorUnits }): readonly Posting[] =>
  moved([
    { type: 'payment', from: 'acquirer_clearing', to: 'merchant', amount },
    { type: 'fee', from: 'merchant', to: 'platform_fees', amount: fee },
  ]);

/**
 * A refund that the bank has not decided is set aside. The merchant still owns it, and cannot pay
 * it out; the account may go below zero.
 */
export const refundOpened = (refund: Fact): readonly Posting[] => [
  { type: 'reserve', from: 'merchant', to: 'merchant_reserved', amount: refund.amount },
];

/**
 * The bank gave the buyer the money: the acquirer owes us that much less, and we the merchant. The
 * payment's fee stays withheld.
 */
export const refundSucceeded = (refund: Fact): readonly Posting[] => [
  { type: 'refund', from: 'merchant_reserved', to: 'acquirer_clearing', amount: refund.amount },
];

/** The bank refused: what was set aside is the merchant's again. */
export const refundFailed = (refund: Fact): readonly Posting[] => [
  { type: 'release', from: 'merchant_reserved', to: 'merchant', amount: refund.amount },
];

/**
 * The bank refused to return a late payment. The money is not the merchant's, who may have sold the
 * goods to another buyer: it leaves the merchant's balance and stays in suspense until an operator
 * has found its owner.
 */
export const lateRefundFailed = (refund: Fact): readonly Posting[] => [
  { type: 'adjustment', from: 'merchant_reserved', to: 'suspense', amount: refund.amount },
];

/** A merchant was paid out what it was owed: we owe it less, and the money is on its way. */
export const settlementRecorded = ({ amount }: Fact): readonly Posting[] =>
  moved([{ type: 'settlement', from: 'merchant', to: 'payout_clearing', amount }]);

/**
 * An operator corrected what we owe a merchant; what stands against it is explained elsewhere,
 * hence suspense.
 */
export const adjustmentRecorded = ({
  amount,
  inFavour,
}: Fact & { inFavour: boolean }): readonly Posting[] =>
  moved([
    inFavour
      ? { type: 'adjustment', from: 'suspense', to: 'merchant', amount }
      : { type: 'adjustment', from: 'merchant', to: 'suspense', amount },
  ]);
