/**
 * A change of a payment: the columns that may change, and the postings, events and rows that are
 * written with it.
 */
import { eventRow, type OutboxEvent } from '../platform/events/outbox.ts';
import { deltaRows, postingRows } from '../ledger/post.ts';
import type { Posting } from '../rules/postings.ts';
import type { Payment } from './entities.ts';
import { receiptsMade } from './receipts/made-receipts.ts';
import type { Refund } from './refunds/entities.ts';

/** The columns that change during a payment's life. */
export const mutable = [
  'status',
  'method',
  'metadata',
  'amountRefunded',
  'amountCaptured',
  'captureTermsId',
  'captureBefore',
  'holdOrder',
  'holdKey',
  'rrn',
  'bankName',
  'connector',
  'bankRef',
  'processingUntil',
  'capturedAt',
  'finalizedAt',
  'askAt',
  'orderedAt',
  'customerCardBrand',
  'customerCardMask',
  'customerCardHolder',
  'customerPhoneMask',
  'customerPayerBank',
  'fee',
  'feeRateBps',
  'step',
  'stepUrl',
  'failureCode',
  'plannedOutcome',
  'plannedFailureCode',
  'savedReference',
] as const satisfies readonly (keyof Payment)[];

/** What may change of a payment. */
export type PaymentPatch = Partial<Pick<Payment, (typeof mutable)[number]>>;

/** A change of a payment: its new state, postings and events. */
export interface PaymentChange {
  readonly patch: PaymentPatch;
  readonly postings: readonly Posting[];
  /** Present: the rate by which it takes its fee, which must apply when it is written. */
  readonly rateBps?: number;
  /** What happened, from the payment as it becomes. */
  readonly events: (payment: Payment) => readonly OutboxEvent[];
  /**
   * Present: an adjustment of the merchant's account that the same fact makes; of the refund where
   * there is one, else of the payment.
   */
  readonly adjustment?: { readonly postings: readonly Posting[]; readonly description: string };
  /**
   * A refund of it that the same fact makes or moves, as it becomes, with what is booked for it.
   */
  readonly refund?: { readonly row: Refund; readonly postings: readonly Posting[] };
}

/** What every posting of a payment's change has in common. */
const sourceOf = (
  { merchantId, shopId, mode, currency, id, publicId }: Payment,
  now: Temporal.Instant,
) => ({
  merchantId,
  shopId,
  mode,
  currency,
  paymentId: id,
  payoutId: null,
  description: publicId,
  at: now,
});

/** What a change books: for the payment, for an adjustment and for a refund, each by its source. */
const factsOf = (
  common: ReturnType<typeof sourceOf>,
  { postings, adjustment, refund }: PaymentChange,
) => [
  {
    source: { ...common, sourceKind: 'payment' as const, sourceId: common.paymentId },
    postings,
  },
  ...(adjustment
    ? [
        {
          source: {
            ...common,
            description: adjustment.description,
            sourceKind: 'adjustment' as const,
            sourceId: refund?.row.id ?? common.paymentId,
          },
          postings: adjustment.postings,
        },
      ]
    : []),
  ...(refund
    ? [
        {
          source: { ...common, sourceKind: 'refund' as const, sourceId: refund.row.id },
          postings: refund.postings,
        },
      ]
    : []),
];

/** The new state of a payment, and the rows that are written with it. */
export interface Storing {
  readonly before: Payment;
  readonly after: Payment;
  readonly postings: readonly object[];
  readonly deltas: readonly object[];
  readonly events: readonly object[];
  readonly rateBps: number | null;
  readonly receipts: readonly object[];
  /** New ones, and those that have moved; each once. */
  readonly refunds: readonly Refund[];
}

/** What of a payment the totals count. */
const counted = [
  'status',
  'amountCaptured',
  'capturedAt',
  'fee',
  'failureCode',
] as const satisfies readonly (keyof PaymentPatch)[];

/**
 * The events of a change. A change that publishes nothing but affects totals, such as a refused
 * refund, makes an event without recipients, from which the totals are updated.
 */
const eventsOf = (
  before: Payment,
  after: Payment,
  change: PaymentChange,
  at: Temporal.Instant,
): readonly OutboxEvent[] => {
  const published = change.events(after);
  const isCounted = change.refund || counted.some((name) => before[name] !== after[name]);
  if (published.length > 0 || !isCounted) return published;
  const { merchantId, shopId, mode, id } = after;
  return [{ merchantId, shopId, mode, subjectId: id, stream: null, webhook: null, at }];
};

export const storingOf = (
  before: Payment,
  change: PaymentChange,
  now: Temporal.Instant,
): Storing => {
  const after: Payment = { ...before, ...change.patch, version: before.version + 1 };
  const common = sourceOf(after, now);
  const facts = factsOf(common, change);
  return {
    before,
    after,
    postings: facts.flatMap(({ source, postings }) => postingRows(source, postings)),
    // What cancels out within the fact moves no balance.
    deltas: deltaRows(
      common,
      facts.flatMap(({ postings }) => postings),
    ),
    events: eventsOf(before, after, change, now).map(eventRow),
    rateBps: change.rateBps ?? null,
    refunds: change.refund ? [change.refund.row] : [],
    receipts: receiptsMade(before, after, change.refund?.row ?? null, now),
  };
};
