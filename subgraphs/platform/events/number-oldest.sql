-- Numbers the oldest events of the outbox, in the order of writing, and makes their webhook
-- deliveries: due at once in real time, one for each lane. The inner limit fixes the order before
-- `nextval` is called. An event goes to the active endpoints of its shop whose filters match, or to
-- its own address.
-- $1 events at most; $2 the events that an endpoint gets only if it names them.
-- Gives the events in the order of their numbers; the first has the lanes with new deliveries.
with batch as materialized (
  select merchant_id, id, created_at, nextval('event_sequence_seq') as sequence
  from (
    select merchant_id, id, created_at from event
    where sequence is null and coalesce((
        select max(due_at) <= now() from dead_letter
        where dead_letter.merchant_id = event.merchant_id and task = 'relay' and subject_id in (event.id::text, '*')
      ), true)
    order by position limit $1
  ) as oldest
),
numbered as (
  update event set sequence = batch.sequence from batch
  where event.merchant_id = batch.merchant_id and event.id = batch.id and event.created_at = batch.created_at
  returning event.*
),
target as (
  -- The lane of an own address is the origin and, behind a `#`, the merchant: merchants that share an
  -- origin do not delay each other.
  select numbered.*, null::uuid as endpoint_id, webhook_url as url, concat(
      coalesce(lower(substring(webhook_url from '^[A-Za-z]+://[^/?#\\]+')), webhook_url), '#', merchant_id, '/', mode
    ) as lane
  from numbered where webhook_event is not null and webhook_url is not null
  union all
  select numbered.*, endpoint.id, endpoint.url, endpoint.id::text
  from numbered join webhook_endpoint as endpoint
    on endpoint.merchant_id = numbered.merchant_id and endpoint.shop_id = numbered.shop_id and endpoint.active
  where numbered.webhook_event is not null and numbered.webhook_url is null
    and case when endpoint.events = '{}' then webhook_event <> all ($2::text[]) else webhook_event = any (endpoint.events) end
),
made as (
  insert into webhook_delivery (merchant_id, id, event_id, webhook_event, shop_id, mode, subject_id, endpoint_id, lane,
    url, status, attempts, next_attempt_at, due_at, created_at)
  -- The id is that of `newRowId`: its first 48 bits are the time.
  select merchant_id, encode(overlay(uuid_send(gen_random_uuid()) placing
      substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::int8) from 3) from 1 for 6), 'hex')::uuid,
    id, webhook_event, shop_id, mode, subject_id, endpoint_id, lane,
    url, 'pending', 0, created_at, least(created_at, statement_timestamp()), created_at
  from target
  on conflict (merchant_id, event_id, lane, created_at) do nothing
  returning merchant_id as "merchantId", lane
)
select sequence, stream_kind as kind, merchant_id as "merchantId", shop_id as "shopId", mode,
  subject_id as "subjectId", created_at as at, payload, follower as consumer,
  case when row_number() over (order by sequence) = 1
    then (select json_agg(lanes) from (select distinct * from made) as lanes) end as lanes
from numbered order by sequence;
