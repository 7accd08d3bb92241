-- The payments of a range whose refunded amount is not the sum of their successful refunds, that
-- are `refunded` with less than all that was captured, or that succeeded without a capture.
-- $1 the merchant; $2 and $3 behind this id, up to and with that one; $4 rows at most, null: all.
-- Gives at most a hundred differences.
select fact.shop_id as "shopId", fact.mode, fact.id::text as "subjectId",
  'the payment of ' || fact.amount || ' is ' || fact.status || ' with ' || fact.amount_refunded
    || ' given back, its successful refunds are ' || given.amount as detail,
  jsonb_build_object('status', fact.status, 'currency', fact.currency,
    'found', fact.amount_refunded::text, 'expected', given.amount::text) as fields
from (
    select * from payment
    where merchant_id = $1 and id > $2::uuid and id <= $3::uuid
    order by id limit $4::int
  ) as fact
  cross join lateral (
    select coalesce(sum(amount), 0) as amount from refund
    where merchant_id = $1 and payment_id = fact.id and status = 'succeeded'
  ) as given
where fact.amount_refunded <> given.amount
  or fact.status = 'refunded' and given.amount <> coalesce(fact.amount_captured, fact.amount)
  or fact.status in ('succeeded', 'refunded') and fact.captured_at is null
limit 100;
