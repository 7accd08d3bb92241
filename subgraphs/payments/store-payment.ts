/**
 * How payments are read and written. One statement moves a payment, books its postings and
 * publishes its events, or does nothing when the payment was written in between (its
 * version has grown). Only the erasure and `bankAskAgain` write an existing payment elsewhere.
 */
import pg from 'pg';
import { deltaRows, postingRows } from '../ledger/post.ts';
import { effectiveRate } from '../ledger/rate.ts';
import type { Subject } from '../platform/alerts/dead-letters.ts';
import { batched, type RowKey } from '../platform/database/batch-calls.ts';
import {
  runByMerchant,
  eachMerchant,
  numberForShard,
  runRows,
  sqlFile,
} from '../platform/database/sql-file.ts';
import {
  asRow,
  columns,
  propertyNames,
  rowJson,
  run,
  type Runner,
  type Statement,
  newRowId,
} from '../platform/database/statement.ts';
import type { Database } from '../platform/database/orm.ts';
import { inTraceOf } from '../platform/database/subject-trace.ts';
import { eventRow, type OutboxEvent } from '../platform/events/outbox.ts';
import { asSubject } from '../rules/event.ts';
import type { Posting } from '../rules/postings.ts';
import { receiptDelay_ms } from '../rules/receipt.ts';
import { capturedOf } from './rules/amounts.ts';
import { termsOf } from './receipts/rules.ts';
import {
  type Payment,
  PaymentEntity,
  type Receipt,
  type Refund,
  RefundEntity,
} from './entities.ts';

export const refundNames = propertyNames(RefundEntity);

/** SQL: the effective rate of a payment's method at a moment, basis points. */
const rateAt = (moment: string): string =>
  `coalesce(${effectiveRate('payment.merchant_id', 'payment.shop_id', 'payment.method', moment)}, 0)`;

export const paymentNames = propertyNames(PaymentEntity);
const paymentColumns = columns(paymentNames, 'payment');

export interface PaymentKey {
  readonly merchantId: string;
  readonly paymentId: string;
}

/** The payment as the subject of a dead letter. */
export const subjectOfPayment = ({ merchantId, paymentId }: PaymentKey): Subject => ({
  merchantId,
  subjectId: paymentId,
});

/** Runs `work` in a span of the payment's own trace. */
export const inPaymentTrace = <Result>(
  { pool }: Pick<Database, 'pool'>,
  key: PaymentKey,
  name: string,
  work: () => Promise<Result>,
): Promise<Result> => inTraceOf(pool, subjectOfPayment(key), { kind: 'internal', name }, work);

/** A payment with what a decision about it needs. */
export interface RatedPayment {
  readonly payment: Payment;
  /** Effective rate of its method when it was read, basis points; null: it was not read. */
  readonly rateBps: number | null;
}

/** A payment to be read, with its rate at a moment. */
interface Finding {
  readonly key: PaymentKey;
  readonly now: Temporal.Instant;
}
type FoundRow = Payment & { readonly rateBps: number; readonly place: number };

const find: Statement = {
  name: 'payment.find',
  text: `select ${paymentColumns}, ${rateAt('asked.at')} as "rateBps", asked.place::int as place
    from unnest($2::uuid[], $3::timestamptz[]) with ordinality as asked (id, at, place)
    cross join lateral (select * from payment where merchant_id = $1 and id = asked.id limit 1) as payment`,
};

/** Reads payments of one merchant. */
const findMany = async (
  runner: Runner,
  findings: readonly Finding[],
): Promise<(RatedPayment | null)[]> => {
  const rows = await run<FoundRow>(runner, find, [
    findings[0]?.key.merchantId,
    findings.map(({ key }) => key.paymentId),
    findings.map(({ now }) => now),
  ]);
  const found = new Map(
    rows.map(({ place, rateBps, ...payment }) => [place, { payment, rateBps }]),
  );
  return findings.map((_, index) => found.get(index + 1) ?? null);
};

const findGathered = batched<Finding, RatedPayment | null>({
  name: find.name,
  callerOf: ({ key }) => key.merchantId,
  run: findMany,
});

/** Reads a payment; null when there is none. Reads of the same moment share a statement. */
export const findPayment = async (
  runner: Runner,
  key: PaymentKey,
  now: Temporal.Instant,
): Promise<RatedPayment | null> => {
  if (runner instanceof pg.Pool) return findGathered(runner, { key, now });
  const [found = null] = await findMany(runner, [{ key, now }]);
  return found;
};

/**
 * A loader of a table's rows that belong to payments, with a limit: at most so many of all payments
 * together; null: all of them.
 */
export const openFindOfPayments = <Row extends object>(
  table: string,
  wanted: string,
  order = 'created_at, id',
) => {
  const statement: Statement = {
    name: `${table}.of_payments`,
    text: `select ${wanted} from ${table} where merchant_id = $1 and payment_id = any ($2) order by ${order} limit $3`,
  };
  return async (
    runner: Runner,
    payments: readonly RowKey[],
    limit: number | null = null,
  ): Promise<Row[]> => {
    const rows = await runByMerchant<Row, RowKey>(runner, statement, payments, (own) => [
      own.map(({ id }) => id),
      limit,
    ]);
    return limit === null ? rows : rows.slice(0, limit);
  };
};

/** The refunds of payments, oldest first. */
export const findRefunds = openFindOfPayments<Refund>('refund', columns(refundNames));

const store = sqlFile(import.meta.dirname, 'store-payment.sql');

// A change of a payment: the columns that may change, and the postings, events and rows that are
// written with it.

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

/** A change that books nothing and publishes nothing. */
export const unpublished = (patch: PaymentPatch): PaymentChange => ({
  patch,
  postings: [],
  events: () => [],
});

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
const factsOf = (paymentId: string, { postings, adjustment, refund }: PaymentChange) => [
  { sourceKind: 'payment' as const, sourceId: paymentId, postings },
  ...(adjustment
    ? [
        {
          sourceKind: 'adjustment' as const,
          sourceId: refund?.row.id ?? paymentId,
          ...adjustment,
        },
      ]
    : []),
  ...(refund
    ? [{ sourceKind: 'refund' as const, sourceId: refund.row.id, postings: refund.postings }]
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
  return [{ ...asSubject(after), stream: null, webhook: null, at }];
};

// The receipts that a change of a payment makes: with the money that came, and with each refund that
// succeeded. They are written by the statement of the change, so that there is one for each movement,
// whatever crashes. Money that came too late, and money that a link had no use for, was taken and goes
// back: both movements have their receipts.

/** A row for `store-payment.sql`: what it does not have comes from its terms. */
const receiptRow = (
  { merchantId, id: paymentId, shopId, mode, currency }: Payment,
  made: Pick<Receipt, 'type' | 'refundId' | 'termsId' | 'amount'>,
  now: Temporal.Instant,
): object =>
  asRow({
    ...made,
    id: newRowId(),
    merchantId,
    shopId,
    mode,
    paymentId,
    currency,
    askAt: now.add({ milliseconds: receiptDelay_ms }),
    createdAt: now,
  });

/** The rows of the receipts that a change makes; none for a payment without a receipt. */
const receiptsMade = (
  before: Payment,
  after: Payment,
  refund: Refund | null,
  now: Temporal.Instant,
): readonly object[] => {
  const rows: object[] = [];
  const termsId = termsOf(after);
  if (termsId !== null && before.capturedAt === null && after.capturedAt !== null) {
    const amount = capturedOf(after);
    rows.push(receiptRow(after, { type: 'payment', refundId: null, termsId, amount }, now));
  }
  if (refund?.status === 'succeeded' && refund.receiptTermsId !== null) {
    const { id: refundId, amount, receiptTermsId } = refund;
    const made = { type: 'refund', refundId, amount, termsId: receiptTermsId } as const;
    rows.push(receiptRow(after, made, now));
  }
  return rows;
};

export const storingOf = (
  before: Payment,
  change: PaymentChange,
  now: Temporal.Instant,
): Storing => {
  const after: Payment = { ...before, ...change.patch, version: before.version + 1 };
  // A call that waited for the payment brings the time at which it began to wait. Its movements
  // stand after those of the capture all the same: the ledger is read in this order.
  const { capturedAt } = before;
  const isLate = capturedAt !== null && Temporal.Instant.compare(now, capturedAt) < 0;
  const common = sourceOf(after, isLate ? capturedAt : now);
  const facts = factsOf(after.id, change);
  return {
    before,
    after,
    postings: facts.flatMap(({ postings, ...source }) =>
      postingRows({ ...common, ...source }, postings),
    ),
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

const sentNames = ['merchantId', 'id', ...mutable];

const sentRow = ({ before, after, rateBps, refunds, ...written }: Storing) => ({
  ...rowJson(sentNames, after),
  version: before.version,
  shop_id: before.shopId,
  read_method: before.method,
  rate_bps: rateBps,
  refunds: refunds.map((refund) => rowJson(refundNames, refund)),
  ...written,
});

/**
 * Writes changes of payments of one merchant, one of each; gives the ids of those that were
 * written. Without `mayWait`, a payment that is locked is left alone.
 */
export const storeTogether = async (
  runner: Runner,
  storings: readonly Storing[],
  mayWait: boolean,
): Promise<ReadonlySet<string>> => {
  const [first] = storings;
  if (!first) return new Set();
  const rows = storings.map(sentRow);
  const events = rows.flatMap((row) => row.events);
  await numberForShard(runner, events, 'position', 'event_position_seq');
  const { merchantId } = first.after;
  const written = await runRows<{ id: string }>(runner, store, merchantId, rows, mayWait);
  return new Set(written.map(({ id }) => id));
};

/**
 * Writes many changes in one statement for each merchant, for thousands of payments that end in the
 * same minute. A payment that was written since it was read, or that is locked, is left alone.
 * Returns the number written.
 */
export const storePayments = async (
  runner: Runner,
  changes: readonly { readonly before: Payment; readonly change: PaymentChange }[],
  now: Temporal.Instant,
): Promise<number> => {
  const storings = changes.map(({ before, change }) => ({
    merchantId: before.merchantId,
    ...storingOf(before, change, now),
  }));
  const written = await eachMerchant(storings, async (own) => [
    ...(await storeTogether(runner, own, false)),
  ]);
  return written.length;
};

/** A batch leaves what it did not write: its version is another, or it is locked. */
const storeGathered = batched<Storing, Payment | null>({
  name: store.name,
  callerOf: ({ after }) => after.merchantId,
  run: async (pool, storings) => {
    const first = new Map(storings.toReversed().map((one) => [one.after.id, one]));
    const isAlone = storings.length === 1;
    const written = await storeTogether(pool, [...first.values()].toReversed(), isAlone);
    return storings.map((one) => {
      const { id } = one.after;
      if (written.has(id) && first.get(id) === one) return one.after;
      return isAlone ? null : 'left';
    });
  },
});

/**
 * Writes a change; null when the payment was written since it was read, or its
 * fee's rate is another by now, and then nothing has happened. Changes of the same moment share a
 * statement.
 */
export const storePayment = async (
  runner: Runner,
  before: Payment,
  change: PaymentChange,
  now: Temporal.Instant,
): Promise<Payment | null> => {
  const storing = storingOf(before, change, now);
  if (runner instanceof pg.Pool) return storeGathered(runner, storing);
  const written = await storeTogether(runner, [storing], true);
  return written.has(before.id) ? storing.after : null;
};
