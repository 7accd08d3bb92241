/**
 * Claiming deliveries: which of those that are due become this process's, and until when.
 *
 * A claimed row is leased: whoever claimed it may die, and when the lease is over it is due again
 * under the same event id. The lease's end is also the proof of ownership when the result is
 * stored. Leases run on the database's clock, retries on the delivery's own.
 */
import type pg from 'pg';
import type { Timeline } from '../../kernel/clock/due.ts';
import { notSetAside, setAside, workBatch, type Subject } from '../../kernel/alerts/set-aside.ts';
import { inTransaction, run, type Runner } from '../../kernel/database/statement.ts';
import {
  joinSigning,
  signingColumns,
  withMessage,
  type Message,
  type MessageRow,
} from './message.ts';
import { webhooksInFlightPerLane_max } from './rules.ts';

/** The limits of delivery; those of `rules/webhook.ts`, save in tests that cannot wait so long. */
export interface DeliveryLimits {
  readonly deadline_ms: number;
  readonly leaseMargin_ms: number;
}

export interface ClaimParts {
  readonly pool: pg.Pool;
  /** The clock that retries follow. */
  readonly now: () => Temporal.Instant;
  readonly limits: DeliveryLimits;
}

/** A delivery that is this process's until `leaseUntil`. */
export interface ClaimedDelivery {
  readonly merchantId: string;
  readonly id: string;
  readonly lane: string;
  readonly eventId: string;
  /** The payment, payout or refund that it is about. */
  readonly subjectId: string;
  readonly url: string;
  /** Attempts made before this one. */
  readonly attempts: number;
  /** Those of them that were made before the last resend. */
  readonly attemptsBefore: number;
  /** The moment of its event, by which both are found. */
  readonly createdAt: Temporal.Instant;
  readonly leaseUntil: Temporal.Instant;
  /** What is sent; null when the event or the endpoint is gone. */
  readonly message: Message | null;
}

/** A lane that asks, and how many deliveries it has room for. */
export interface Asking {
  readonly lane: string;
  readonly limit: number;
}

/**
 * Claims due deliveries of lanes, each named once, oldest first: at most `limit` of each, and at
 * most so many that a lane never has more than its share in flight, whoever claimed them.
 */
export const claimDeliveries = async (
  parts: ClaimParts,
  asking: readonly Asking[],
  runner: Runner = parts.pool,
): Promise<readonly ClaimedDelivery[]> => {
  const rows = await run<ClaimedRow>(runner, claimDue, [
    asking.map(({ lane }) => lane),
    parts.now(),
    asking.map(({ limit }) => limit),
    webhooksInFlightPerLane_max,
    leaseOf(parts),
  ]);
  return rows.map(withMessage);
};

/** Claims due deliveries of one lane. One that makes the claim fail is set aside. */
export const claimLane = async (
  parts: ClaimParts,
  { lane, limit }: Asking,
): Promise<readonly ClaimedDelivery[]> => {
  const first = async () =>
    (await run<Subject>(parts.pool, firstDue, [lane, parts.now()]))[0] ?? null;
  const { result } = await workBatch(parts.pool, {
    task,
    limit,
    work: (some) =>
      inTransaction(parts.pool, (client) =>
        claimDeliveries(parts, [{ lane, limit: some }], client),
      ),
    first,
  });
  return result;
};

/**
 * Claims deliveries that are due by the test clock of a shop, oldest first: at most as many as a
 * lane may have in flight. One that makes it fail is set aside.
 */
export const claimDeliveriesOf = async (
  parts: Omit<ClaimParts, 'now'>,
  now: Temporal.Instant,
  shop: NonNullable<Timeline>,
): Promise<readonly ClaimedDelivery[]> => {
  const { merchantId, shopId } = shop;
  const claimSome = (limit: number): Promise<ClaimedRow[]> =>
    inTransaction(parts.pool, (client) =>
      run<ClaimedRow>(client, claimDueOfShop, [
        shopId,
        now,
        limit,
        webhooksInFlightPerLane_max,
        leaseOf(parts),
        merchantId,
      ]),
    );
  const first = async () =>
    (await run<Subject>(parts.pool, firstDueOfShop, [shopId, now, merchantId]))[0] ?? null;
  const { result } = await workBatch(parts.pool, {
    task,
    limit: webhooksInFlightPerLane_max,
    work: claimSome,
    first,
  });
  return result.map(withMessage);
};

/**
 * Has a delivery left alone for a while: what its attempt came to could not be stored, and it would
 * be sent again at the end of its lease.
 */
export const setDeliveryAside = (
  pool: pg.Pool,
  { merchantId, id }: Pick<ClaimedDelivery, 'merchantId' | 'id'>,
  error: unknown,
): Promise<void> => setAside(pool, task, { merchantId, subjectId: id }, error);

const leaseOf = ({ limits: { deadline_ms, leaseMargin_ms } }: Pick<ClaimParts, 'limits'>): number =>
  deadline_ms + leaseMargin_ms;

/** Lanes that have a delivery which is due by the real time and nobody's. */
export const findDueLanes = async ({
  pool,
  now,
}: Pick<ClaimParts, 'pool' | 'now'>): Promise<readonly string[]> => {
  const rows = await run<{ lane: string }>(pool, dueLanes, [now()]);
  return rows.map(({ lane }) => lane);
};

/** A claimed delivery as columns. */
export type ClaimedRow = Omit<ClaimedDelivery, 'message'> & MessageRow;

// Lanes are locked in one order, so that two processes never wait for each other. Behind the locks,
// `webhooks_in_flight` sees what the last holders claimed, and rows that they changed are read
// anew. A claim that a crash of PostgreSQL loses is made again, so nobody waits for the disk. The
// lanes are taken from subqueries, since a plan must not depend on them: it would be made for each
// claim.
const lockOf = (lane: string): string => `hashtextextended('webhook-lane/' || ${lane}, 0)`;
const lockedLanes = `(
      select lane, max_rows, locks from unnest((select $1::text[]), (select $3::int[])) as asked (lane, max_rows), (
        select count(pg_advisory_xact_lock(key)) as locks from set_config('synchronous_commit', 'off', true), (
          select distinct ${lockOf('lane')} as key from unnest((select $1::text[])) as lane order by key
        ) as keys
      ) as locked
    ) as asking`;

/** The task under which deliveries are set aside. */
const task = 'deliver-webhooks';
const notAside = (delivery: string): string =>
  notSetAside(task, `${delivery}.merchant_id`, `${delivery}.id::text`);

// The inner limit is a constant, else the planner expects a tenth of the lane to be taken and sorts
// all of it.
const claim = (asking: string, whose: string, inFlight: string): string => `
    with due as materialized (
      select oldest.merchant_id, oldest.id, oldest.created_at from ${asking} cross join lateral (
        select merchant_id, id, created_at from (
          select merchant_id, id, created_at from webhook_delivery
          where ${whose} and status = 'pending' and next_attempt_at <= $2 and (lease_until is null or lease_until <= statement_timestamp())
            and ${notAside('webhook_delivery')}
          order by next_attempt_at limit ${webhooksInFlightPerLane_max} for update skip locked
        ) as oldest_due
        limit greatest(0, least(asking.max_rows, $4::int - ${inFlight}))
      ) as oldest
    ), claimed as (
      update webhook_delivery as delivery set lease_until = statement_timestamp() + $5::int * interval '1 millisecond'
      from due where delivery.merchant_id = due.merchant_id and delivery.id = due.id and delivery.created_at = due.created_at
      returning delivery.*
    )
    select claimed.merchant_id as "merchantId", claimed.id, claimed.lane, event_id as "eventId", claimed.subject_id as "subjectId",
      coalesce(endpoint.url, claimed.url) as url, attempts,
      attempts_before as "attemptsBefore", claimed.created_at as "createdAt", lease_until as "leaseUntil", event.webhook_body as body, ${signingColumns('$2')}
    from claimed
    left join event on event.merchant_id = claimed.merchant_id and event.id = claimed.event_id and event.created_at = claimed.created_at
    ${joinSigning('claimed')}`;

// A shop with a test clock has its own time, and its own claim. A case is not made a join: the
// event is looked at only where there is a clock.
const hasClock = (row: string): string =>
  `exists (select from test_clock where test_clock.merchant_id = ${row}.merchant_id and test_clock.shop_id = ${row}.shop_id)`;
const byTestClock = (delivery: string): string => `case
  when ${hasClock(delivery)}
  then exists (select from event where event.merchant_id = ${delivery}.merchant_id and event.id = ${delivery}.event_id and event.mode = 'test')
  else false end`;
const ofShop = 'merchant_id = $6 and shop_id = $1';
const claimDue = {
  name: 'webhook.claimDue',
  text: claim(
    lockedLanes,
    `lane = asking.lane and not ${byTestClock('webhook_delivery')}`,
    // The locks, which count nothing, make it wait for them.
    'webhooks_in_flight(asking.lane) - 0 * asking.locks',
  ),
};
const claimDueOfShop = {
  name: 'webhook.claimDueOfShop',
  text: claim(
    '(select $3::int as max_rows) as asking',
    `${ofShop} and ${byTestClock('webhook_delivery')}`,
    `(select count(*) from webhook_delivery where ${ofShop} and lease_until > statement_timestamp())`,
  ),
};

/** SQL: an event's new delivery is not claimed here: its shop has a clock, or it is set aside. */
export const isLeftAlone = (event: string): string =>
  `(${event}.mode = 'test' and ${hasClock(event)}) or not ${notSetAside(task, `${event}.merchant_id`, "'*'")}`;

/**
 * SQL: how many new deliveries of a lane may be leased beside what is in flight there, by a
 * statement that does not wait for the lane's lock: null where somebody claims in the lane at the
 * moment, or has something older to claim. That is looked for in the order of its index: a plan
 * that expects it everywhere, as in a backlog, would read the whole table when there is none.
 */
export const handoverLane = (lane: string, most: number): string => `case
  when coalesce((select next_attempt_at from webhook_delivery where lane = ${lane} and status = 'pending'
    and (lease_until is null or lease_until <= statement_timestamp()) order by next_attempt_at limit 1) > $4::timestamptz, true)
  then case when pg_try_advisory_xact_lock(${lockOf(lane)}) then ${most} - webhooks_in_flight(${lane}) end end`;

const firstDueIn = (
  whose: string,
): string => `select merchant_id as "merchantId", id::text as "subjectId" from webhook_delivery
  where ${whose} and status = 'pending' and next_attempt_at <= $2 and (lease_until is null or lease_until <= statement_timestamp())
    and ${notAside('webhook_delivery')} order by next_attempt_at limit 1`;
const firstDue = {
  name: 'webhook.firstDue',
  text: firstDueIn(`lane = $1 and not ${byTestClock('webhook_delivery')}`),
};
const firstDueOfShop = {
  name: 'webhook.firstDueOfShop',
  text: firstDueIn(`merchant_id = $3 and shop_id = $1 and ${byTestClock('webhook_delivery')}`),
};

// Steps from lane to lane along the index: a lane with a million rows that are due costs as much as
// one with a single row.
const dueLanes = {
  name: 'webhook.dueLanes',
  text: `
    with recursive lane_with_work as (
      (select lane from webhook_delivery where status = 'pending' order by lane limit 1)
      union all
      select (select next.lane from webhook_delivery as next where next.status = 'pending' and next.lane > last.lane order by next.lane limit 1)
      from lane_with_work as last where last.lane is not null
    )
    select lane from lane_with_work where lane is not null and exists (
      select from webhook_delivery as delivery
      where delivery.lane = lane_with_work.lane and status = 'pending' and next_attempt_at <= $1 and (lease_until is null or lease_until <= now())
        and ${notAside('delivery')} and not ${byTestClock('delivery')})`,
};

/** SQL: whether a lane has a delivery that is due by `$1` in the real time and nobody's. */
export const isAnyLaneDue = `exists (${dueLanes.text})`;

/** SQL: the clocks by which a delivery is due that is nobody's (`ClockParticipant.due`). */
export const dueByClock = `from clock join webhook_delivery as delivery on delivery.merchant_id = clock.merchant_id and delivery.shop_id = clock.shop_id
    join event on event.merchant_id = delivery.merchant_id and event.id = delivery.event_id and event.created_at = delivery.created_at and event.mode = 'test'
  where delivery.status = 'pending' and next_attempt_at <= clock.at and (lease_until is null or lease_until <= now()) and ${notAside('delivery')}`;
