/**
 * Orders to banks that have no idempotency key for them: an order is claimed here, durably, before
 * it is sent, so that it is sent once, however many processes handle it and wherever they die.
 */
import { run, type Runner, type Statement } from '../platform/database/statement.ts';

/** An order of an operation that belongs to another one, as a refund does to a payment. */
export interface ClaimedOrder {
  readonly merchantId: string;
  readonly subjectId: string;
  readonly operationId: string;
  readonly now: Temporal.Instant;
}

const claim: Statement = {
  name: 'bank_order.claim',
  text: `insert into bank_order (merchant_id, subject_id, operation_id, sent_at) values ($1, $2, $3, $4)
    on conflict (merchant_id, subject_id, operation_id) do update set sent_at = excluded.sent_at where bank_order.sent_at < $5::timestamptz
    returning 1`,
};

const giveBack: Statement = {
  name: 'bank_order.give_back',
  text: 'delete from bank_order where merchant_id = $1 and subject_id = $2 and operation_id = $3',
};

const count: Statement = {
  name: 'bank_order.count',
  text: 'select count(*)::int as orders from bank_order where merchant_id = $1 and subject_id = $2',
};

const sent: Statement = {
  name: 'bank_order.sent',
  text: 'select sent_at from bank_order where merchant_id = $1 and subject_id = $2 and operation_id = $3',
};

/** Whether the order may be sent now: it is unclaimed, or, with `before`, unclaimed since then. */
export const claimOrder = async (
  pool: Runner,
  { merchantId, subjectId, operationId, now }: ClaimedOrder,
  before: Temporal.Instant | null,
): Promise<boolean> =>
  (await run(pool, claim, [merchantId, subjectId, operationId, now, before])).length > 0;

/** When an order was claimed last; null: the claim was released. */
export const claimedAt = async (
  pool: Runner,
  { merchantId, subjectId, operationId }: ClaimedOrder,
): Promise<Temporal.Instant | null> => {
  const keys = [merchantId, subjectId, operationId];
  return (await run<{ sent_at: Temporal.Instant }>(pool, sent, keys))[0]?.sent_at ?? null;
};

/** Releases the claim of an order that certainly was not sent. */
export const giveClaimBack = async (
  pool: Runner,
  { merchantId, subjectId, operationId }: ClaimedOrder,
): Promise<void> => {
  await run(pool, giveBack, [merchantId, subjectId, operationId]);
};

/** How many orders of a subject were claimed. */
export const claimsOf = async (
  pool: Runner,
  merchantId: string,
  subjectId: string,
): Promise<number> =>
  (await run<{ orders: number }>(pool, count, [merchantId, subjectId]))[0]?.orders ?? 0;
