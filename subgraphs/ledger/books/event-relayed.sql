-- The events of a range that have waited in the outbox for ten minutes: the relay takes milliseconds.
-- $1 the merchant; $2 and $3 behind this id, up to and with that one; $4 rows at most, null: all.
-- Gives at most a hundred differences.
select shop_id as "shopId", mode, id::text as "subjectId",
  'the event of ' || made_at || ' has not left the outbox' as detail, '{}'::jsonb as fields
from (
  select *, to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::int8 / 1000.0) as made_at
  from event
  where merchant_id = $1 and id > $2::uuid and id <= $3::uuid
  order by id limit $4::int
) as fact
where sequence is null and made_at < now() - interval '10 minutes'
limit 100;
