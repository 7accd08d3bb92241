/**
 * Payments under their rows' locks, for their refunds. Other changes of a payment race by its
 * version; refunds of one payment would lose each other's races again and again, so they stand in
 * line: fifty at once are fifty answers, not fifty attempts each.
 */
import type pg from 'pg';
import { lockByKey, type RowKey } from '../platform/database/batch-calls.ts';
import { eachMerchant } from '../platform/database/sql-file.ts';
import { run, type Statement } from '../platform/database/statement.ts';
import type { Payment, Refund } from './entities.ts';
import { boundWait } from '../platform/database/idempotency.ts';
import { loadPayments } from './find-payments.ts';
import {
  storingOf,
  type PaymentChange,
  type Storing,
  findPayment,
  findRefunds,
  storePayment,
  storeTogether,
  type PaymentKey,
} from './store-payment.ts';

/** A payment that is locked until the transaction ends, and all its refunds, oldest first. */
export interface LockedPayment {
  readonly payment: Payment;
  readonly refunds: readonly Refund[];
}

const lockRow = lockByKey<RowKey>('payment', 'merchant_id as "merchantId", id');

/** Waits for the payment's row and reads it after that; null when there is none. */
export const lockPayment = async (
  client: pg.PoolClient,
  key: PaymentKey,
  now: Temporal.Instant,
): Promise<LockedPayment | null> => {
  await lockRow(client, { merchantId: key.merchantId, id: key.paymentId });
  // A statement of its own: it sees what the last holder of the lock has committed.
  const found = await findPayment(client, key, now);
  if (!found) return null;
  return { payment: found.payment, refunds: await findRefunds(client, [found.payment]) };
};

/** Writes a change of a locked payment. Gives the payment as it becomes. */
export const storeLocked = async (
  client: pg.PoolClient,
  { payment }: LockedPayment,
  change: PaymentChange,
  now: Temporal.Instant,
): Promise<Payment> => {
  const stored = await storePayment(client, payment, change, now);
  if (!stored)
    throw new Error(`payment ${payment.id} was written by another transaction while it was locked`);
  return stored;
};

/** Payments of a batch, each as it is with the changes that the batch has decided so far. */
interface LockedPayments {
  /** Undefined: there is none, or another transaction holds it. */
  of(paymentId: string): LockedPayment | undefined;
  /** Decides a change of a payment; it is written with all others. */
  change(paymentId: string, change: PaymentChange, now: Temporal.Instant): void;
  /** Writes what was decided, in one statement. */
  store(): Promise<void>;
}

const lockFree: Statement = {
  name: 'payment.lock_free',
  text: `select merchant_id as "merchantId", id from payment where ${boundWait} and merchant_id = $1 and id = any ($2::uuid[])
    for update skip locked`,
};

/** A payment's refunds with one that is new or has moved. */
const withRefund = (refunds: readonly Refund[], row: Refund): readonly Refund[] =>
  refunds.some(({ id }) => id === row.id)
    ? refunds.map((refund) => (refund.id === row.id ? row : refund))
    : [...refunds, row];

/** Two changes of one payment, one after the other, as one. */
const joined = (earlier: Storing | undefined, later: Storing): Storing =>
  earlier
    ? {
        before: earlier.before,
        after: later.after,
        postings: [...earlier.postings, ...later.postings],
        deltas: [...earlier.deltas, ...later.deltas],
        events: [...earlier.events, ...later.events],
        receipts: [...earlier.receipts, ...later.receipts],
        refunds: later.refunds.reduce(withRefund, earlier.refunds),
        rateBps: later.rateBps ?? earlier.rateBps,
      }
    : later;

/** Locks those payments that no other transaction holds, until the transaction ends, and reads them. */
export const lockFreePayments = async (
  client: pg.PoolClient,
  keys: readonly PaymentKey[],
): Promise<LockedPayments> => {
  const free = await eachMerchant(keys, (own, merchantId) =>
    run<Pick<Payment, 'merchantId' | 'id'>>(client, lockFree, [
      merchantId,
      own.map(({ paymentId }) => paymentId),
    ]),
  );
  // Statements of their own: they see what the last holders of the locks have committed.
  const payments = (await loadPayments(client, free)).filter((payment) => payment !== null);
  const refunds = Map.groupBy(await findRefunds(client, payments), ({ paymentId }) => paymentId);
  const locked = new Map<string, LockedPayment>(
    payments.map((payment) => [payment.id, { payment, refunds: refunds.get(payment.id) ?? [] }]),
  );
  const storings = new Map<string, Storing>();
  return {
    of: (paymentId) => locked.get(paymentId),
    change: (paymentId, change, now) => {
      const before = locked.get(paymentId);
      if (!before) throw new Error(`payment ${paymentId} is not locked`);
      const storing = storingOf(before.payment, change, now);
      storings.set(paymentId, joined(storings.get(paymentId), storing));
      const row = change.refund?.row;
      locked.set(paymentId, {
        payment: storing.after,
        refunds: row ? withRefund(before.refunds, row) : before.refunds,
      });
    },
    store: async () => {
      if (storings.size === 0) return;
      const stored = await storeTogether(client, [...storings.values()], true);
      if (stored.size < storings.size)
        throw new Error('a locked payment was written by another transaction');
    },
  };
};
