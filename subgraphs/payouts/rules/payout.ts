/**
 * The states of a payout (docs/contract.md#payout-states). A missing answer of the bank changes
 * nothing. A payout that could not be routed fails with `bank_unknown`.
 */
import { enums } from '../../../schema/generated/enums.ts';
import type { WebhookEvent } from '../../rules/event.ts';
import { plus, type MinorUnits } from '../../rules/money.ts';
import { movesBy } from '../../rules/moves.ts';
import type { Posting } from '../../rules/postings.ts';
import type { Recipient } from '../../rules/recipient.ts';

export const payoutStatuses = enums.PayoutStatus;
export type PayoutStatus = (typeof payoutStatuses)[number];

export const payoutMethods = enums.PayoutMethod;
export type PayoutMethod = (typeof payoutMethods)[number];

type PayoutTrigger = 'bank_approved' | 'bank_declined';

export const payoutMove = movesBy<PayoutStatus, PayoutTrigger>({
  pending: { bank_approved: 'succeeded', bank_declined: 'failed' },
  succeeded: {},
  failed: {},
});

/** The webhook of a new status (docs/contract.md#webhooks); null for pending. */
export const webhookOf = (status: PayoutStatus): WebhookEvent | null =>
  status === 'pending' ? null : `payout.${status}`;

/** The name of each method in routes and banks. */
export const wayOf: Readonly<Record<PayoutMethod, Recipient['way']>> = {
  payouts_sbp: 'sbp',
  payouts_card: 'card',
  payouts_account: 'account',
};

/** The deadline of a bank's answer to one order: the process then gives up, and queries later. */
export const callDeadline_s = 20;

/**
 * When to query a card payout without an answer. The number is lost, so the order cannot be
 * repeated. The delay exceeds any call, so an order the bank has not seen by then was never sent.
 */
export const lostCard_s = 60;

/** When to believe a bank that does not know a card payout; `sentAt`: when it was ordered. */
export const lostCardAt = (payout: {
  readonly sentAt: Temporal.Instant | null;
  readonly createdAt: Temporal.Instant;
}): Temporal.Instant => (payout.sentAt ?? payout.createdAt).add({ seconds: lostCard_s });

/**
 * How long after its first order a payout unknown to its bank is ordered anew. No order is repeated
 * once the bank may have forgotten its key (23 hours): the last one is an hour old by then.
 */
export const unseenFor_h = 24;

/** A worker's lease on a payout, before another takes it up. */
export const lease_s = 30;

const askAgain_min_s = 10;
const askAgain_max_s = 600;

/** When to retry a silent bank: after half of the payout's age, from 10 seconds to 10 minutes. */
export const nextTry = (madeAt: Temporal.Instant, now: Temporal.Instant): Temporal.Instant => {
  const half_s = Math.floor((now.epochMilliseconds - madeAt.epochMilliseconds) / 2_000);
  return now.add({ seconds: Math.min(askAgain_max_s, Math.max(askAgain_min_s, half_s)) });
};

// The postings of a payout. Amount and fee are reserved when it is created and released if it
// fails. Merchants see `payout` and `payout_fee` once it succeeds
// (docs/contract.md#balance-and-ledger).

/** What a payout takes: its amount, and the fee. */
export interface Amounts {
  readonly amount: MinorUnits;
  readonly fee: MinorUnits;
}

/** A payout was created: the merchant still owns its money, but cannot spend it twice. */
export const payoutOpened = ({ amount, fee }: Amounts): readonly Posting[] => [
  { type: 'reserve', from: 'merchant', to: 'merchant_reserved', amount: plus(amount, fee) },
];

/** The bank paid: we owe the merchant that much less, and have earned the fee. */
export const payoutSucceeded = ({ amount, fee }: Amounts): readonly Posting[] => [
  { type: 'payout', from: 'merchant_reserved', to: 'payout_clearing', amount },
  ...(fee > 0n
    ? [{ type: 'payout_fee', from: 'merchant_reserved', to: 'platform_fees', amount: fee } as const]
    : []),
];

/** The bank refused: the reserve is released to the merchant. */
export const payoutFailed = ({ amount, fee }: Amounts): readonly Posting[] => [
  { type: 'release', from: 'merchant_reserved', to: 'merchant', amount: plus(amount, fee) },
];

interface Addressed {
  readonly method: PayoutMethod;
  readonly recipientPhone: string | null;
  readonly recipientAccount: string | null;
  /** The last 4 digits. */
  readonly recipientCardMask: string | null;
}

/**
 * The ledger's description of a payout: the method, and the last 4 digits of the recipient. Unlike
 * a payment, a payout has no public number.
 */
export const payoutDescription = (payout: Addressed): string => {
  switch (payout.method) {
    case 'payouts_sbp':
      return `SBP *${payout.recipientPhone?.slice(-4) ?? ''}`;
    case 'payouts_card':
      return `Card *${payout.recipientCardMask ?? ''}`;
    case 'payouts_account':
      return `Account *${payout.recipientAccount?.slice(-4) ?? ''}`;
  }
};
