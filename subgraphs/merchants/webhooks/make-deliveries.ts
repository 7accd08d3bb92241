/**
 * From events to deliveries. Contract "Webhooks": events of one shop go to that shop's endpoints
 * whose filter is empty or holds the event; a payment's own `webhook_url` replaces them.
 */

/**
 * SQL: makes the deliveries of the events in the query's part `events`, for the relay. An event
 * that already has its delivery to a lane gets no second one. `made` holds the lanes that have
 * something new: an endpoint's id, or the origin of a payment's own address. They are due at once
 * on the event's own clock. uuidv7 keeps the primary key's inserts together.
 */
export const deliveriesOf = (events: string): string => String.raw`fresh as (
      select * from ${events} where webhook_event is not null
    ), target as (
      select fresh.*, null::uuid as endpoint_id, lower(substring(webhook_url from '^[A-Za-z]+://[^/?#\\]+')) as lane, webhook_url as url
      from fresh where webhook_url is not null
      union all
      select fresh.*, endpoint.id, endpoint.id::text, endpoint.url
      from fresh join webhook_endpoint as endpoint on endpoint.merchant_id = fresh.merchant_id and endpoint.shop_id = fresh.shop_id
      where fresh.webhook_url is null and endpoint.active and (endpoint.events = '{}' or fresh.webhook_event = any (endpoint.events))
    ), made as (
      insert into webhook_delivery
        (merchant_id, id, event_id, webhook_event, shop_id, subject_id, endpoint_id, lane, url, status, attempts, next_attempt_at, created_at)
      select merchant_id, uuidv7(), id, webhook_event, shop_id, subject_id, endpoint_id, coalesce(lane, url), url, 'pending', 0, created_at, created_at
      from target
      on conflict (merchant_id, event_id, lane, created_at) do nothing
      returning lane
    )`;
