/**
 * Stores the results of attempts. Results of the same moment share one statement, which saves most
 * of a delivery's database cost with many fast receivers. A result whose lease has ended is not
 * stored: another process owns the delivery.
 */
import type pg from 'pg';
import { rfc3339 } from '../../../schema/rfc3339.ts';
import { batched } from '../../platform/database/batch-calls.ts';
import { noteListChange } from '../../platform/database/list-changes.ts';
import { runSharded, type ShardedStatement } from '../../platform/database/sharding.ts';
import type { WebhookFault } from './faults.ts';

/** One attempt's result, and what follows for its delivery. */
interface AttemptResult {
  readonly merchantId: string;
  readonly deliveryId: string;
  /** That of the delivery. */
  readonly createdAt: Temporal.Instant;
  /** The end of the lease under which it was made. */
  readonly leaseUntil: Temporal.Instant;
  readonly status: string;
  readonly nextAttemptAt: Temporal.Instant | null;
  readonly deliveredAt: Temporal.Instant | null;
  readonly at: Temporal.Instant;
  readonly duration_ms: number;
  readonly answerStatus: number | null;
  readonly error: string | null;
  readonly fault: WebhookFault | null;
  readonly answerHead: string | null;
}

const textOf = (instant: Temporal.Instant | null): string | null => instant && rfc3339(instant);

/** Stores results; whether the lease of each still held. */
const storeBatch = async (
  pool: pg.Pool,
  results: readonly AttemptResult[],
): Promise<readonly boolean[]> => {
  const rows = await runSharded<{ deliveryId: string }, AttemptResult>(
    pool,
    storeAttempts,
    results,
    columnsOf,
  );
  const held = new Set(rows.map(({ deliveryId }) => deliveryId));
  for (const { merchantId, deliveryId, status } of results) {
    if (!held.has(deliveryId)) continue;
    noteListChange(pool, { list: 'webhook_deliveries', merchantId });
    if (status === 'failed') noteListChange(pool, { list: 'webhook_failures', merchantId });
  }
  return results.map(({ deliveryId }) => held.has(deliveryId));
};

const columnsOf = (results: readonly AttemptResult[]): readonly unknown[] => {
  const column = <Value>(valueOf: (result: AttemptResult) => Value): readonly Value[] =>
    results.map(valueOf);
  return [
    column(({ deliveryId }) => deliveryId),
    column(({ leaseUntil }) => textOf(leaseUntil)),
    column(({ status }) => status),
    column(({ nextAttemptAt }) => textOf(nextAttemptAt)),
    column(({ deliveredAt }) => textOf(deliveredAt)),
    column(({ at }) => textOf(at)),
    column(({ duration_ms }) => duration_ms),
    column(({ answerStatus }) => answerStatus),
    column(({ error }) => error),
    column(({ fault }) => fault),
    column(({ answerHead }) => answerHead),
    column(({ createdAt }) => textOf(createdAt)),
  ];
};

/** SQL: the parameters behind the merchants, and the columns that they are. */
const given = `$2::uuid[], $3::timestamptz[], $4::text[], $5::timestamptz[], $6::timestamptz[],
        $7::timestamptz[], $8::int[], $9::int[], $10::text[], $11::text[], $12::text[], $13::timestamptz[]`;
const givenColumns = `id, lease_until, status, next_attempt_at, delivered_at, at, duration_ms, answer_status, error, fault, response_head, created_at`;

/**
 * SQL: the delivery's retries follow the test clock of its shop. The clock's row is locked, so that
 * a concurrent removal of the clock includes this delivery.
 */
const hasClock = (merchant: string): string => `(
          exists (select 1 from event where event.merchant_id = ${merchant} and event.id = delivery.event_id and event.created_at = delivery.created_at and event.mode = 'test')
          and exists (select 1 from test_clock where test_clock.merchant_id = ${merchant} and test_clock.shop_id = delivery.shop_id for share))`;

/** SQL: `merchant` is the merchant of a result, or of all of them. */
const storeText = (results: string, merchant: string): string => `
    with result as materialized (
      ${results}
    ), settled as (
      update webhook_delivery as delivery
      set status = result.status, attempts = attempts + 1, next_attempt_at = result.next_attempt_at,
        due_at = case when result.next_attempt_at is null or ${hasClock(merchant)} then null else result.next_attempt_at end, delivered_at = result.delivered_at, lease_until = null
      from result
      where delivery.merchant_id = ${merchant} and delivery.id = result.id and delivery.created_at = result.created_at
        and delivery.lease_until = result.lease_until and delivery.status = 'pending'
      returning delivery.merchant_id, delivery.id, attempts
    )
    insert into webhook_attempt (merchant_id, delivery_id, number, at, duration_ms, status, error, fault, response_head, created_at)
    select merchant_id, id, attempts, at, duration_ms, answer_status, error, fault, response_head, created_at from settled join result using (merchant_id, id)
    returning delivery_id as "deliveryId"`;

const storeAttempts: ShardedStatement = {
  ofAll: {
    name: 'webhook.store_attempts',
    text: storeText(
      `select * from unnest($1::uuid[], ${given}) as result (merchant_id, ${givenColumns})`,
      'result.merchant_id',
    ),
  },
  ofMerchant: {
    name: 'webhook.store_attempts_of_merchant',
    text: storeText(
      `select $1::uuid as merchant_id, result.* from unnest(${given}) as result (${givenColumns})`,
      '$1',
    ),
  },
};

/** Stores one result; returns whether the lease still held. Rejects when the database fails. */
export const storeAttempt = batched<AttemptResult, boolean>({
  name: storeAttempts.ofAll.name,
  callerOf: ({ merchantId }) => merchantId,
  run: storeBatch,
});
