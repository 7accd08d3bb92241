-- The numbered events of a range that lack a delivery. The relay numbers an event and makes its
-- deliveries in one transaction. An event with its own address always has one; of the shop's
-- endpoints it had each that was active and unchanged from before it until now. An endpoint that
-- was changed meanwhile (the audit log shows it) proves nothing. All moments here are real ones: an
-- event's `created_at` comes from its shop's test clock, and may be years ahead of an endpoint that
-- was made after it; its id has the real one. Endpoints and events are stamped before their
-- transactions end, hence the minute.
-- $1 the merchant; $2 and $3 behind this id, up to and with that one; $4 rows at most, null: all;
-- $5 the events that an endpoint gets only if it names them.
-- Gives at most a hundred differences.
with fact as (
  select *, to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::int8 / 1000.0) as made_at
  from (
    select * from event
    where merchant_id = $1 and id > $2::uuid and id <= $3::uuid
    order by id limit $4::int
  ) as event
),
-- Deliveries are looked for first, and the audit log for what lacks one alone.
lacking as materialized (
  select fact.*, target.endpoint_id
  from fact cross join lateral (
    select null::uuid as endpoint_id where fact.webhook_url is not null
    union all
    select id from webhook_endpoint
    where fact.webhook_url is null and merchant_id = $1 and shop_id = fact.shop_id and active
      and created_at < fact.made_at - interval '1 minute'
      and case when events = '{}' then fact.webhook_event <> all ($5::text[]) else fact.webhook_event = any (events) end
  ) as target
  where fact.sequence is not null and fact.webhook_event is not null
    and not exists (
      select 1 from webhook_delivery
      where merchant_id = $1 and event_id = fact.id and created_at = fact.created_at
        and endpoint_id is not distinct from target.endpoint_id
      offset 0
    )
)
select shop_id as "shopId", mode, id::text as "subjectId",
  'the event ' || webhook_event || ' of ' || subject_id || ' has no delivery to '
    || coalesce('the endpoint ' || endpoint_id, 'its own address') as detail,
  jsonb_build_object('event', webhook_event) as fields
from lacking
where endpoint_id is null
  or not exists (
    select 1 from audit_entry
    where merchant_id = $1 and at >= lacking.made_at - interval '1 minute'
      and subject_id = lacking.endpoint_id::text
    offset 0
  )
limit 100;
