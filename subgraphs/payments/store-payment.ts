/**
 * How payments are read and written. One statement moves a payment, books its postings and
 * publishes its events, or does nothing when somebody else wrote the payment in between (its
 * version has grown). Only the erasure and `bankAskAgain` write an existing payment elsewhere.
 */
import { isSpread, runTwins, twinsByKey } from '../kernel/database/spread.ts';
import pg from 'pg';
import { eachMerchant } from '../kernel/database/by-merchant.ts';
import { gathered } from '../kernel/database/gather-calls.ts';
import {
  columns,
  propertyNames,
  rowJson,
  run,
  type Runner,
  type Statement,
} from '../kernel/database/statement.ts';
import type { Subject } from '../kernel/alerts/set-aside.ts';
import { type Payment, PaymentEntity } from './entities.ts';
import { mutable, storingOf, type PaymentChange, type Storing } from './payment-change.ts';
import type { Refund } from './refunds/entities.ts';
import { rateAt, refundNames, storeManyStatement, storeStatement } from './store-statements.ts';

export const paymentNames = propertyNames(PaymentEntity);
const paymentColumns = columns(paymentNames, 'payment');

export interface PaymentKey {
  readonly merchantId: string;
  readonly paymentId: string;
}

/** The payment as the background sets it aside. */
export const subjectOfPayment = ({ merchantId, paymentId }: PaymentKey): Subject => ({
  merchantId,
  subjectId: paymentId,
});

/** A payment with what a decision about it needs. */
export interface PaymentInHand {
  readonly payment: Payment;
  /** Effective rate of its method when it was read, basis points; null: it was not read. */
  readonly rateBps: number | null;
}

/** A payment to be read, with its rate at a moment. */
interface Finding {
  readonly key: PaymentKey;
  readonly now: Temporal.Instant;
}
type FoundRow = Payment & { readonly rateBps: number };

const find: Statement = {
  name: 'payment.find',
  text: `select ${paymentColumns}, ${rateAt('$3::timestamptz')} as "rateBps"
    from payment where merchant_id = $1 and id = $2`,
};

// As subqueries the arrays say nothing to the planner, so that the plan is made once.
const findMany: Statement = {
  name: 'payment.find_many',
  text: `select ${paymentColumns}, ${rateAt('asked.at')} as "rateBps", asked.place::int as place
    from unnest((select $1::uuid[]), (select $2::uuid[]), (select $3::timestamptz[]))
      with ordinality as asked (merchant_id, id, at, place)
    join payment on payment.merchant_id = asked.merchant_id and payment.id = asked.id`,
};

const findAlone = async (runner: Runner, { key, now }: Finding): Promise<PaymentInHand | null> => {
  const [row] = await run<FoundRow>(runner, find, [key.merchantId, key.paymentId, now]);
  if (!row) return null;
  const { rateBps, ...payment } = row;
  return { payment, rateBps };
};

const findGathered = gathered<Finding, PaymentInHand | null>({
  name: find.name,
  callerOf: ({ key }) => key.merchantId,
  alone: findAlone,
  together: async (pool, findings) => {
    if (await isSpread(pool)) return Promise.all(findings.map((one) => findAlone(pool, one)));
    const found = new Map<number, PaymentInHand>();
    const rows = await run<FoundRow & { readonly place: number }>(pool, findMany, [
      findings.map(({ key }) => key.merchantId),
      findings.map(({ key }) => key.paymentId),
      findings.map(({ now }) => now),
    ]);
    for (const { place, rateBps, ...payment } of rows) found.set(place, { payment, rateBps });
    return findings.map((_, index) => found.get(index + 1) ?? null);
  },
});

/** Reads a payment; null when there is none. Reads of the same moment share a statement. */
export const findPayment = (
  runner: Runner,
  key: PaymentKey,
  now: Temporal.Instant,
): Promise<PaymentInHand | null> =>
  runner instanceof pg.Pool ? findGathered(runner, { key, now }) : findAlone(runner, { key, now });

const refundsOf = twinsByKey(
  'payment.refunds',
  'payment_id',
  (ofKeys) =>
    `select ${columns(refundNames)} from refund where ${ofKeys} order by created_at, id limit $3`,
);

/** The refunds of payments, oldest first, at most so many of all together; null: all of them. */
export const findRefunds = async (
  runner: Runner,
  payments: readonly Pick<Payment, 'merchantId' | 'id'>[],
  limit: number | null = null,
): Promise<Refund[]> => {
  type Key = Pick<Payment, 'merchantId' | 'id'>;
  const refunds = await runTwins<Refund, Key>(runner, refundsOf, payments, (own) => [
    own.map(({ id }) => id),
    limit,
  ]);
  return limit === null ? refunds : refunds.slice(0, limit);
};

const parametersOf = ({ before, after, postings, deltas, events, rateBps }: Storing): unknown[] => [
  after.merchantId,
  after.id,
  before.version,
  ...mutable.map((name) => (name === 'metadata' ? JSON.stringify(after.metadata) : after[name])),
  JSON.stringify(postings),
  JSON.stringify(deltas),
  JSON.stringify(events),
  rateBps,
];

const storeAlone = async (
  runner: Runner,
  storing: Storing,
  refund: Refund | null = null,
): Promise<Payment | null> => {
  const { receipts } = storing;
  const beside = { refunds: refund !== null, receipts: receipts.length > 0 };
  const written = await run(runner, storeStatement(beside), [
    ...parametersOf(storing),
    ...(refund ? [JSON.stringify([rowJson(refundNames, refund)])] : []),
    ...(beside.receipts ? [JSON.stringify(receipts)] : []),
  ]);
  return written.length === 0 ? null : storing.after;
};

const sentNames = ['merchantId', 'id', 'version', ...mutable];

/**
 * Writes changes of several payments of one merchant, one of each, and refunds of them; gives the
 * ids of those that were written.
 */
export const storeTogether = async (
  runner: Runner,
  storings: readonly Storing[],
  refunds: readonly Refund[] = [],
): Promise<ReadonlySet<string>> => {
  const values = [
    JSON.stringify(
      storings.map(({ before: { version }, after }) => rowJson(sentNames, { ...after, version })),
    ),
    JSON.stringify(
      storings.map(({ postings, deltas, events, rateBps }) => ({
        postings,
        deltas,
        events,
        rate_bps: rateBps,
      })),
    ),
  ];
  const [first] = storings;
  if (!first) return new Set();
  const receipts = storings.flatMap((storing) => storing.receipts);
  const beside = { refunds: refunds.length > 0, receipts: receipts.length > 0 };
  const written = await run<{ id: string }>(runner, storeManyStatement(beside), [
    ...values,
    first.after.merchantId,
    ...(beside.refunds
      ? [JSON.stringify(refunds.map((refund) => rowJson(refundNames, refund)))]
      : []),
    ...(beside.receipts ? [JSON.stringify(receipts)] : []),
  ]);
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
    ...(await storeTogether(runner, own)),
  ]);
  return written.length;
};

/** Gives `left` for what a batch did not write: its version is another, or it is locked. */
const storeGathered = gathered<Storing, Payment | 'left' | null>({
  name: storeStatement({ refunds: false, receipts: false }).name,
  callerOf: ({ after }) => after.merchantId,
  callersApart: true,
  alone: (pool, storing) => storeAlone(pool, storing),
  together: async (pool, storings) => {
    const first = new Map(storings.toReversed().map((storing) => [storing.after.id, storing]));
    const written = await storeTogether(pool, [...first.values()].toReversed());
    return storings.map((storing) => {
      const { id } = storing.after;
      return written.has(id) && first.get(id) === storing ? storing.after : 'left';
    });
  },
});

/**
 * Writes a change; null when the payment was written by somebody else since it was read, or its
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
  if (change.refund) return storeAlone(runner, storing, change.refund.row);
  const stored = runner instanceof pg.Pool ? await storeGathered(runner, storing) : 'left';
  // Outside the batches, it may wait for the row.
  return stored === 'left' ? storeAlone(runner, storing) : stored;
};
