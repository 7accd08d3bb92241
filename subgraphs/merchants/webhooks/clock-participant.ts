/**
 * How webhooks follow a shop's test clock: a retry has no `due_at` until the clock reaches its
 * moment. It is then delivered in real time like any other.
 */
import type pg from 'pg';
import type { ClockParticipant } from '../../platform/clock/keep-clocks.ts';
import { notDeadLetter } from '../../platform/alerts/dead-letters.ts';
import { run, type Statement } from '../../platform/database/statement.ts';
import type { WebhookLane } from '../../platform/bus/bus.ts';
import { task } from './deliveries.ts';
import type { WakeLanes } from './deliverer.ts';

const waiting = `webhook_delivery as delivery where delivery.merchant_id = $1 and delivery.shop_id = $2
  and delivery.status = 'pending' and delivery.due_at is null`;

const next: Statement = {
  name: 'webhook.next_of_shop',
  text: `select min(next_attempt_at) as at from ${waiting} and next_attempt_at > $3`,
};
const makeDue: Statement = {
  name: 'webhook.make_due_of_shop',
  text: `update webhook_delivery as delivery set due_at = $4
    where delivery.merchant_id = $1 and delivery.shop_id = $2 and delivery.status = 'pending' and delivery.due_at is null
      and delivery.next_attempt_at <= $3 returning merchant_id as "merchantId", lane`,
};
const underWay: Statement = {
  name: 'webhook.under_way_of_shop',
  text: `select exists (
      select 1 from webhook_delivery as delivery join event on event.merchant_id = $1 and event.id = delivery.event_id
        and event.created_at = delivery.created_at and event.mode = 'test'
      where delivery.merchant_id = $1 and delivery.shop_id = $2 and delivery.status = 'pending'
        and (delivery.lease_until > now() or delivery.due_at <= $3 and ${notDeadLetter(task, '$1', 'delivery.id::text')})) as found`,
};

interface ParticipantDeps {
  readonly pool: pg.Pool;
  /** The real time. */
  readonly now: () => Temporal.Instant;
  readonly wake: WakeLanes;
}

/**
 * The clock participant of webhooks. It does not wait for attempts, so a hanging receiver delays
 * only its own shop's clock, and only while that clock advances.
 */
export const webhookClockParticipant = ({
  pool,
  now: realNow,
  wake,
}: ParticipantDeps): ClockParticipant => ({
  due: [
    `from clock join webhook_delivery as delivery on delivery.merchant_id = clock.merchant_id and delivery.shop_id = clock.shop_id
      where delivery.status = 'pending' and delivery.due_at is null and delivery.next_attempt_at <= clock.at`,
  ],
  next: async ({ merchantId, shopId }, now) => {
    const values = [merchantId, shopId, now];
    const [row] = await run<{ at: Temporal.Instant | null }>(pool, next, values);
    return row?.at ?? null;
  },
  work: async ({ merchantId, shopId }, now) => {
    const made = await run<WebhookLane>(pool, makeDue, [merchantId, shopId, now, realNow()]);
    if (made.length > 0) wake(made);
    return made.length;
  },
  isUnderWay: async ({ merchantId, shopId }) => {
    const values = [merchantId, shopId, realNow()];
    return (await run<{ found: boolean }>(pool, underWay, values))[0]?.found === true;
  },
});

// A retry that followed the real time follows the clock from now on.
const waitForClock: Statement = {
  name: 'webhook.wait_for_clock',
  text: `update webhook_delivery as delivery set due_at = null
    where delivery.merchant_id = $1 and delivery.shop_id = $2 and delivery.status = 'pending' and delivery.attempts > delivery.attempts_before
      and exists (select 1 from event where event.merchant_id = $1 and event.id = delivery.event_id
        and event.created_at = delivery.created_at and event.mode = 'test')`,
};
const waitForRealTime: Statement = {
  name: 'webhook.wait_for_real_time',
  text: `update webhook_delivery as delivery set due_at = next_attempt_at
    where delivery.merchant_id = $1 and delivery.shop_id = $2 and delivery.status = 'pending' and delivery.due_at is null`,
};

interface Shop {
  readonly merchantId: string;
  readonly shopId: string;
}

/** Has a shop's retries follow the test clock that it gets in this transaction. */
export const followClock = (
  client: pg.PoolClient,
  { merchantId, shopId }: Shop,
): Promise<unknown> => run(client, waitForClock, [merchantId, shopId]);

/** Has a shop's retries follow the real time, in the transaction that removes its test clock. */
export const followRealTime = (
  client: pg.PoolClient,
  { merchantId, shopId }: Shop,
): Promise<unknown> => run(client, waitForRealTime, [merchantId, shopId]);
