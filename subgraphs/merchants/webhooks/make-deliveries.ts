/**
 * Makes deliveries from events: events of a shop go to the endpoints of that shop whose filter
 * passes them, or to the payment's own address (docs/contract.md#webhook-target).
 */
import { newRowIdInSql } from '../../kernel/database/new-id.ts';
import { isWanted } from '../../kernel/events/outbox.ts';
import type { ClaimedDelivery, ClaimedRow } from './claim-deliveries.ts';
import { handoverLane, isLeftAlone } from './claim-statements.ts';
import { ownLaneOf } from './lane-name.ts';
import { joinSigning, signingColumns, withMessage } from './message.ts';
import { webhookLanesOfMerchant_max, webhooksInFlightPerLane_max } from './rules.ts';

/**
 * SQL: makes the deliveries of the events in the query's part `events`, for the relay. An event
 * that already has its delivery to a lane gets no second one. They are due at once on the event's
 * own clock.
 *
 * Up to `$2` of them are handed over: made with a lease of `$3` milliseconds for the relay's own
 * process, which is their claim, and given in `handed` with what is sent at `$4`. Only in a lane
 * that nobody claims in at the moment, where nothing older is due, and as many as may be in flight
 * there; by turns of the merchants, and of none that `$5` names. `made` holds the lanes that have
 * something for others to claim.
 */
export const deliveriesOf = (events: string, merchants?: string): string =>
  merchants === undefined ? handedOver(events) : leftToClaims(events, merchants);

/** SQL: `target`, the new deliveries; `ofEndpoint` is what else is asked of an endpoint. */
const targetsOf = (events: string, ofEndpoint = ''): string => `fresh as (
      select * from ${events} where webhook_event is not null
    ), target as materialized (
      select fresh.*, null::uuid as endpoint_id, ${ownLaneOf('fresh')} as lane, webhook_url as url
      from fresh where webhook_url is not null
      union all
      select fresh.*, endpoint.id, endpoint.id::text, endpoint.url
      from fresh join webhook_endpoint as endpoint on ${ofEndpoint}endpoint.merchant_id = fresh.merchant_id and endpoint.shop_id = fresh.shop_id
      where fresh.webhook_url is null and endpoint.active and ${isWanted('endpoint', 'fresh.webhook_event')}
    )`;

const handedOver = (events: string): string => `${targetsOf(events)}, asked as materialized (
      select lane, case when $2::int > 0 then ${handoverLane('lanes.lane', webhooksInFlightPerLane_max)} end as room
      from (select distinct lane from target) as lanes
    ), ranked as materialized (
      select turns.*, row_number() over (order by is_full, turn, sequence) as place from (
        select target.*, asked.room, target.merchant_id = any ($5::uuid[]) as is_full,
          row_number() over (partition by target.lane order by target.sequence) as place_in_lane,
          row_number() over (partition by target.merchant_id order by target.sequence) as turn
        from target join asked on asked.lane = target.lane) as turns
    ), placed as materialized (
      select ranked.*, ${newRowIdInSql} as delivery_id,
        case when place <= $2::int and place_in_lane <= room and turn <= ${webhookLanesOfMerchant_max} and not is_full
          then case when ${isLeftAlone('ranked')} then null else statement_timestamp() + $3::int * interval '1 millisecond' end end as lease_until
      from ranked
    ), inserted as (
      insert into webhook_delivery
        (merchant_id, id, event_id, webhook_event, shop_id, subject_id, endpoint_id, lane, url, status, attempts, next_attempt_at, created_at, lease_until)
      select merchant_id, delivery_id, id, webhook_event, shop_id, subject_id, endpoint_id, lane, url, 'pending', 0, created_at, created_at, lease_until
      from placed
      on conflict (merchant_id, event_id, lane, created_at) do nothing
      returning *
    ), made as (
      select lane from inserted where lease_until is null
    ), handed as (
      select placed.sequence as handed_at, inserted.merchant_id as "merchantId", inserted.id, inserted.lane, inserted.event_id as "eventId",
        inserted.subject_id as "subjectId", coalesce(endpoint.url, inserted.url) as url, inserted.attempts, inserted.attempts_before as "attemptsBefore",
        inserted.created_at as "createdAt", inserted.lease_until as "leaseUntil", placed.webhook_body as body, ${signingColumns('$4::timestamptz')}
      from inserted join placed on placed.delivery_id = inserted.id ${joinSigning('inserted')}
      where inserted.lease_until is not null
    )`;

const leftToClaims = (events: string, merchants: string): string =>
  `${targetsOf(events, `endpoint.merchant_id ${merchants} and `)}, made as (
      insert into webhook_delivery
        (merchant_id, id, event_id, webhook_event, shop_id, subject_id, endpoint_id, lane, url, status, attempts, next_attempt_at, created_at)
      select merchant_id, ${newRowIdInSql}, id, webhook_event, shop_id, subject_id, endpoint_id, lane, url, 'pending', 0, created_at, created_at
      from target
      on conflict (merchant_id, event_id, lane, created_at) do nothing
      returning lane
    )`;

/** A delivery of the part `handed`, as JSON gives it. */
interface HandedRow extends Omit<ClaimedRow, 'createdAt' | 'leaseUntil'> {
  readonly createdAt: string;
  readonly leaseUntil: string;
}

/** Reads what the relay hands over: the rows of the part `handed`. */
export const readHanded = (rows: readonly unknown[]): readonly ClaimedDelivery[] =>
  // They come from the statement above.
  (rows as readonly HandedRow[]).map(({ createdAt, leaseUntil, ...row }) =>
    withMessage({
      ...row,
      createdAt: Temporal.Instant.from(createdAt),
      leaseUntil: Temporal.Instant.from(leaseUntil),
    }),
  );
