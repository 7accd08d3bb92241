/** What the texts of the hosted page are about; en.ts has the shape of every language. */
import type { FailureCode } from '../../../subgraphs/rules/failure-code.ts';
import type { CheckoutFieldsFragment } from '../../../schema/generated/operations.ts';

export const languages = ['ru', 'en'] as const;
export type Language = (typeof languages)[number];

/** Failure codes of payouts and refunds alone. */
type OtherCode =
  | 'bank_unknown'
  | 'recipient_not_in_sbp'
  | 'recipient_check_failed'
  | 'rejected_by_recipient_bank'
  | 'payout_limit_exceeded'
  | 'acquirer_balance_insufficient'
  | 'recipient_data_lost'
  | 'refund_rejected'
  | 'refund_window_closed';
/** Failure codes of payments. */
export type PaymentFailureCode = Exclude<FailureCode, OtherCode>;

/** Why a payment did not pass, and what the buyer can do about it. */
export interface FailureWords {
  readonly reason: string;
  readonly advice: string;
}

/** A heading and the sentence under it. */
export interface Message {
  readonly title: string;
  readonly text: string;
}

export type SubscriptionPeriod = NonNullable<CheckoutFieldsFragment['subscription']>['period'];
export const payableMethods = ['sbp', 'cards', 'tpay', 'sberpay'] as const;
export type PayableMethod = (typeof payableMethods)[number];
/** Methods that a shop can save. */
export type SavableMethod = Exclude<PayableMethod, 'sberpay'>;
