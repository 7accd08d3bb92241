/**
 * The statements that claim deliveries and find those that are due. A claim is for lanes of all
 * merchants, or for one merchant's deliveries of a lane, where the tables are spread.
 */
import { notSetAside } from '../../kernel/alerts/set-aside.ts';
import { joinSigning, signingColumns } from './message.ts';
import { webhooksInFlightPerLane_max } from './rules.ts';

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
export const task = 'deliver-webhooks';
const notAside = (delivery: string, merchant = `${delivery}.merchant_id`): string =>
  notSetAside(task, merchant, `${delivery}.id::text`);

// The inner limit is a constant, else the planner expects a tenth of the lane to be taken and sorts
// all of it. With `merchant`, a parameter, all is one merchant's, and one shard runs it.
const claim = (
  asking: string,
  { whose, inFlight, merchant }: { whose: string; inFlight: string; merchant?: string },
): string => `
    with due as materialized (
      select oldest.merchant_id, oldest.id, oldest.created_at from ${asking} cross join lateral (
        select merchant_id, id, created_at from (
          select merchant_id, id, created_at from webhook_delivery
          where ${whose} and status = 'pending' and next_attempt_at <= $2 and (lease_until is null or lease_until <= statement_timestamp())
            and ${notAside('webhook_delivery', merchant)}
          order by next_attempt_at limit ${webhooksInFlightPerLane_max} for update skip locked
        ) as oldest_due
        limit greatest(0, least(asking.max_rows, $4::int - ${inFlight}))
      ) as oldest
    ), claimed as (
      update webhook_delivery as delivery set lease_until = statement_timestamp() + $5::int * interval '1 millisecond'
      from due where delivery.merchant_id = ${merchant ?? 'due.merchant_id'} and delivery.id = due.id and delivery.created_at = due.created_at
      returning delivery.*
    )
    select claimed.merchant_id as "merchantId", claimed.id, claimed.lane, event_id as "eventId", claimed.subject_id as "subjectId",
      coalesce(endpoint.url, claimed.url) as url, attempts,
      attempts_before as "attemptsBefore", claimed.created_at as "createdAt", lease_until as "leaseUntil", event.webhook_body as body, ${signingColumns('$2')}
    from claimed
    left join event on event.merchant_id = ${merchant ?? 'claimed.merchant_id'} and event.id = claimed.event_id and event.created_at = claimed.created_at
    ${joinSigning('claimed', merchant)}`;

// A shop with a test clock has its own time, and its own claim. A case is not made a join: the
// event is looked at only where there is a clock.
const hasClock = (row: string, merchant = `${row}.merchant_id`): string =>
  `exists (select 1 from test_clock where test_clock.merchant_id = ${merchant} and test_clock.shop_id = ${row}.shop_id)`;
const byTestClock = (delivery: string, merchant = `${delivery}.merchant_id`): string => `case
  when ${hasClock(delivery, merchant)}
  then exists (select 1 from event where event.merchant_id = ${merchant} and event.id = ${delivery}.event_id and event.mode = 'test')
  else false end`;
const ofShop = 'merchant_id = $6 and shop_id = $1';
export const claimDue = {
  name: 'webhook.claim_due',
  text: claim(lockedLanes, {
    whose: `lane = asking.lane and not ${byTestClock('webhook_delivery')}`,
    // The locks, which count nothing, make it wait for them.
    inFlight: 'webhooks_in_flight(asking.lane) - 0 * asking.locks',
  }),
};
export const claimDueOfMerchant = {
  name: 'webhook.claim_due_of_merchant',
  text: claim('(select $3::int as max_rows) as asking', {
    whose: `merchant_id = $6 and lane = $1 and not ${byTestClock('webhook_delivery', '$6')}`,
    inFlight: '0',
    merchant: '$6',
  }),
};
export const lockLane = {
  name: 'webhook.lock_lane',
  text: `select pg_advisory_xact_lock(${lockOf('$1')})`,
};
export const inFlightOf = {
  name: 'webhook.in_flight',
  text: 'select webhooks_in_flight($1)::int as "inFlight"',
};
export const dueOwners = {
  name: 'webhook.due_owners',
  text: `select merchant_id as "merchantId", count(*)::int as count from (
      select merchant_id from webhook_delivery where lane = $1 and status = 'pending' and next_attempt_at <= $2
        and (lease_until is null or lease_until <= statement_timestamp())
        and ${notAside('webhook_delivery')} and not ${byTestClock('webhook_delivery')}
      order by next_attempt_at limit $3) as oldest group by merchant_id`,
};

export const claimDueOfShop = {
  name: 'webhook.claim_due_of_shop',
  text: claim('(select $3::int as max_rows) as asking', {
    whose: `${ofShop} and ${byTestClock('webhook_delivery', '$6')}`,
    inFlight: `(select count(*) from webhook_delivery where ${ofShop} and lease_until > statement_timestamp())`,
    merchant: '$6',
  }),
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
  merchant?: string,
): string => `select merchant_id as "merchantId", id::text as "subjectId" from webhook_delivery
  where ${whose} and status = 'pending' and next_attempt_at <= $2 and (lease_until is null or lease_until <= statement_timestamp())
    and ${notAside('webhook_delivery', merchant)} order by next_attempt_at limit 1`;
export const firstDue = {
  name: 'webhook.first_due',
  text: firstDueIn(`lane = $1 and not ${byTestClock('webhook_delivery')}`),
};
export const firstDueOfShop = {
  name: 'webhook.first_due_of_shop',
  text: firstDueIn(
    `merchant_id = $3 and shop_id = $1 and ${byTestClock('webhook_delivery', '$3')}`,
    '$3',
  ),
};

export const dueLanes = {
  name: 'webhook.due_lanes',
  text: 'select lane from webhook_lanes_due($1, null) as lane',
};

/** SQL: whether a lane has a delivery that is due by `$1` in the real time and nobody's. */
export const isAnyLaneDue = 'exists (select 1 from webhook_lanes_due($1, 1))';

/** SQL: the clocks by which a delivery is due that is nobody's (`ClockParticipant.due`). */
export const dueByClock = `from clock join webhook_delivery as delivery on delivery.merchant_id = clock.merchant_id and delivery.shop_id = clock.shop_id
    join event on event.merchant_id = delivery.merchant_id and event.id = delivery.event_id and event.created_at = delivery.created_at and event.mode = 'test'
  where delivery.status = 'pending' and next_attempt_at <= clock.at and (lease_until is null or lease_until <= now()) and ${notAside('delivery')}`;
