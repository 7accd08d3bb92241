/**
 * The states of a payout (docs/contract.md#payout-states). A missing answer of the bank changes
 * nothing. A payout that could not be routed fails with `bank_unknown`.
 */
import type { WebhookEvent } from '../../kernel/rules/event.ts';
import { move } from '../../kernel/rules/moves.ts';
import type { Recipient } from '../../kernel/rules/recipient.ts';

export const payoutStatuses = ['pending', 'succeeded', 'failed'] as const;
export type PayoutStatus = (typeof payoutStatuses)[number];

export const payoutMethods = ['payouts_sbp', 'payouts_card', 'payouts_account'] as const;
export type PayoutMethod = (typeof payoutMethods)[number];

export type PayoutTrigger = 'bank_approved' | 'bank_declined';

const payoutMoves = {
  pending: { bank_approved: 'succeeded', bank_declined: 'failed' },
  succeeded: {},
  failed: {},
} as const satisfies Record<PayoutStatus, Partial<Record<PayoutTrigger, PayoutStatus>>>;

/** Where a trigger leads; undefined when the table has no such move. */
export const payoutMove = (from: PayoutStatus, trigger: PayoutTrigger): PayoutStatus | undefined =>
  move<PayoutStatus, PayoutTrigger>(payoutMoves, from, trigger);

/** The webhook of a status that was just reached (docs/contract.md#webhooks); null for pending. */
export const webhookOf = (status: PayoutStatus): WebhookEvent | null => {
  switch (status) {
    case 'pending':
      return null;
    case 'succeeded':
      return 'payout.succeeded';
    case 'failed':
      return 'payout.failed';
  }
};

/** How the money of each method goes, in the words of routes and banks. */
export const wayOf: Readonly<Record<PayoutMethod, Recipient['way']>> = {
  payouts_sbp: 'sbp',
  payouts_card: 'card',
  payouts_account: 'account',
};

/** How long the bank may take to answer one order: the process gives up then, and asks later. */
export const callDeadline_s = 20;

/**
 * When the bank is asked about a card payout whose answer did not come. The number is gone by then,
 * so that the order cannot be repeated; it is so much later than any call may last that an order
 * which the bank has not seen by then was never sent.
 */
export const lostCard_s = 60;

/** When a bank that knows nothing of a card payout is believed; `sentAt`: when it was ordered. */
export const lostCardAt = ({
  sentAt,
  createdAt,
}: {
  readonly sentAt: Temporal.Instant | null;
  readonly createdAt: Temporal.Instant;
}): Temporal.Instant => (sentAt ?? createdAt).add({ seconds: lostCard_s });

/** How long after a card payout was given up its bank is asked again whether it paid after all. */
const questionsAfterLoss_min = [1, 10, 60, 360, 1_440];

/**
 * When the bank is asked next about a card payout that failed with `recipient_data_lost`; null: it
 * has had a day to say that it paid.
 */
export const nextQuestionAfterLoss = (
  failedAt: Temporal.Instant,
  now: Temporal.Instant,
): Temporal.Instant | null =>
  questionsAfterLoss_min
    .map((minutes) => failedAt.add({ minutes }))
    .find((at) => Temporal.Instant.compare(at, now) > 0) ?? null;

/**
 * How long after its first order a payout that its bank has not seen is given to a bank anew. No
 * order is repeated once the bank may have forgotten its key (23 hours): the last one is an hour
 * old by then.
 */
export const unseenFor_h = 24;

/** How long a worker that was given a payout has for it, before another takes it up. */
export const lease_s = 30;

const askAgain_min_s = 10;
const askAgain_max_s = 600;

/**
 * When a bank that gave no answer is tried again: after half of the payout's age, at least 10
 * seconds and at most 10 minutes.
 */
export const nextTry = (madeAt: Temporal.Instant, now: Temporal.Instant): Temporal.Instant => {
  const half_s = Math.floor((now.epochMilliseconds - madeAt.epochMilliseconds) / 2_000);
  return now.add({ seconds: Math.min(askAgain_max_s, Math.max(askAgain_min_s, half_s)) });
};
