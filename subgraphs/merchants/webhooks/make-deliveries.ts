/**
 * Creates deliveries from events: to the shop's endpoints whose filters match, or to the payment's
 * own address (docs/contract.md#webhook-target).
 */
import { newRowIdInSql } from '../../platform/database/new-id.ts';
import { isWanted } from '../../platform/events/outbox.ts';

/**
 * SQL: the lane of an event's own address, with a `#`: the origin and its merchant, so that
 * merchants sharing an origin do not delay each other.
 */
const ownLane = String.raw`concat(
        coalesce(lower(substring(webhook_url from '^[A-Za-z]+://[^/?#\\]+')), webhook_url),
        '#', merchant_id, '/', mode)`;

/**
 * SQL: creates the deliveries of the events in the query's part `events`, for the relay, due at
 * once in real time. An event gets one delivery for each lane. `made` holds their lanes. Where the
 * tables are sharded, `ofEndpoints` names the merchants of the shard.
 */
export const deliveriesOf = (events: string, ofEndpoints = 'true'): string => `fresh as (
      select * from ${events} where webhook_event is not null
    ), target as (
      select fresh.*, null::uuid as endpoint_id, ${ownLane} as lane, webhook_url as url
      from fresh where webhook_url is not null
      union all
      select fresh.*, endpoint.id, endpoint.id::text, endpoint.url
      from fresh join webhook_endpoint as endpoint on ${ofEndpoints} and endpoint.merchant_id = fresh.merchant_id and endpoint.shop_id = fresh.shop_id
      where fresh.webhook_url is null and endpoint.active and ${isWanted('endpoint', 'fresh.webhook_event')}
    ), made as (
      insert into webhook_delivery
        (merchant_id, id, event_id, webhook_event, shop_id, mode, subject_id, endpoint_id, lane, url, status, attempts, next_attempt_at, due_at, created_at)
      select merchant_id, ${newRowIdInSql}, id, webhook_event, shop_id, mode, subject_id, endpoint_id, lane, url, 'pending', 0, created_at,
        least(created_at, statement_timestamp()), created_at
      from target
      on conflict (merchant_id, event_id, lane, created_at) do nothing
      returning merchant_id as "merchantId", lane
    )`;
