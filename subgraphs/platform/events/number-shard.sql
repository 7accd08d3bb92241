-- Numbers the oldest events of the outbox of one shard, as number-oldest.sql does in one database:
-- Citus runs a statement on a shard if every table in it names the merchants. An event is read
-- again before it gets its number: another session may have committed one meanwhile.
-- $1 the merchants of the shard; $2 events at most; $3 their numbers; $4 the events that an
-- endpoint gets only if it names them.
-- Gives the events in the order of their numbers, each with the lanes with new deliveries.
with batch as materialized (
  select oldest.merchant_id, oldest.id, oldest.created_at, given.sequence
  from (
    select merchant_id, id, created_at, row_number() over (order by position) as place from event
    where merchant_id = any ($1::uuid[]) and sequence is null and coalesce((
        select max(due_at) <= now() from dead_letter
        where dead_letter.merchant_id = event.merchant_id and dead_letter.merchant_id = any ($1::uuid[])
          and task = 'relay' and subject_id in (event.id::text, '*')
      ), true)
    order by position limit $2
  ) as oldest
  join unnest($3::int8[]) with ordinality as given (sequence, place) on given.place = oldest.place
),
numbered as (
  update event set sequence = batch.sequence from batch
  where event.merchant_id = any ($1::uuid[]) and event.merchant_id = batch.merchant_id and event.id = batch.id
    and event.created_at = batch.created_at and event.sequence is null
  returning event.*
),
target as (
  select numbered.*, null::uuid as endpoint_id, webhook_url as url, concat(
      coalesce(lower(substring(webhook_url from '^[A-Za-z]+://[^/?#\\]+')), webhook_url), '#', merchant_id, '/', mode
    ) as lane
  from numbered where webhook_event is not null and webhook_url is not null
  union all
  select numbered.*, endpoint.id, endpoint.url, endpoint.id::text
  from numbered join webhook_endpoint as endpoint
    on endpoint.merchant_id = any ($1::uuid[]) and endpoint.merchant_id = numbered.merchant_id
      and endpoint.shop_id = numbered.shop_id and endpoint.active
  where numbered.webhook_event is not null and numbered.webhook_url is null
    and case when endpoint.events = '{}' then webhook_event <> all ($4::text[]) else webhook_event = any (endpoint.events) end
),
made as (
  insert into webhook_delivery (merchant_id, id, event_id, webhook_event, shop_id, mode, subject_id, endpoint_id, lane,
    url, status, attempts, next_attempt_at, due_at, created_at)
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
  (select json_agg(lanes) from (select distinct * from made) as lanes) as lanes
from numbered order by sequence;
