/**
 * A payment under its row's lock, for its refunds. Other changes of a payment race by its version;
 * refunds of one payment would lose each other's races again and again, so they stand in line:
 * fifty at once are fifty answers, not fifty attempts each.
 */
import type pg from 'pg';
import { run, type Statement } from '../kernel/database/statement.ts';
import type { Payment } from './entities.ts';
import type { Refund } from './refunds/entities.ts';
import type { PaymentChange } from './payment-change.ts';
import { findPayment, findRefunds, storePayment, type PaymentKey } from './store-payment.ts';

/**
 * A payment that nobody else can change until the transaction ends, and all its refunds, oldest
 * first.
 */
export interface LockedPayment {
  readonly payment: Payment;
  readonly refunds: readonly Refund[];
}

const lock: Statement = {
  name: 'payment.lock',
  text: `select 1 from payment where merchant_id = $1 and id = $2 for update`,
};

/** Waits for the payment's row and reads it after that; null when there is none. */
export const lockPayment = async (
  client: pg.PoolClient,
  key: PaymentKey,
  now: Temporal.Instant,
): Promise<LockedPayment | null> => {
  await run(client, lock, [key.merchantId, key.paymentId]);
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
    throw new Error(`payment ${payment.id} was written by somebody else while it was locked`);
  return stored;
};
