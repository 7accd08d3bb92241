-- The payments, refunds or payouts of a range that are not counted in the totals of reports as they
-- are, with the money of their own postings. A payment's bank or method may still be chosen before
-- it is sent anywhere.
-- $1 the merchant; $2 and $3 behind this id, up to and with that one; $4 rows at most, null: all;
-- $5 payment, refund or payout.
-- Gives at most a hundred differences, each with the subjects of the events that count it.
with part as materialized (
  (select id from payment
    where $5::text = 'payment' and merchant_id = $1 and id > $2::uuid and id <= $3::uuid order by id limit $4::int)
  union all
  (select id from refund where $5 = 'refund' and merchant_id = $1 and id > $2 and id <= $3 order by id limit $4)
  union all
  (select id from payout where $5 = 'payout' and merchant_id = $1 and id > $2 and id <= $3 order by id limit $4)
)
select present.shop_id as "shopId", present.mode, part.id::text as "subjectId", present.counted_by as "countedBy",
  'the ' || $5 || ' is ' || present.status || ' with ' || booked.moved || ' moved and a fee of '
    || booked.fee || ' in the hour ' || present.hour || ', it is counted as '
    || coalesce(counted.status || ' with ' || counted.moved || ' and ' || counted.fee, 'nothing') as detail,
  jsonb_build_object('status', present.status, 'currency', present.currency,
    'found', coalesce(counted.moved, 0)::text, 'expected', booked.moved::text) as fields
from part
  cross join lateral (
    select payment.shop_id, payment.mode, payment.currency, payment.created_at, payment.method, payment.connector,
      payment.failure_code, payment.status, payment.amount,
      payment.id || array(select id from refund where merchant_id = $1 and payment_id = payment.id order by created_at)
    from payment
    where $5 = 'payment' and payment.merchant_id = $1 and payment.id = part.id
    union all
    select refund.shop_id, refund.mode, payment.currency, refund.created_at, payment.method, payment.connector,
      refund.fail_reason, refund.status, refund.amount, array[refund.id, refund.payment_id]
    from refund join payment on payment.merchant_id = $1 and payment.id = refund.payment_id
    where $5 = 'refund' and refund.merchant_id = $1 and refund.id = part.id
    union all
    select shop_id, mode, currency, created_at, method, connector, fail_reason, status, amount, array[id]
    from payout
    where $5 = 'payout' and merchant_id = $1 and id = part.id
    offset 0
  ) as fact (shop_id, mode, currency, created_at, method, bank, failure_code, status, amount, counted_by)
  cross join lateral (
    select fact.*, date_trunc('hour', fact.created_at, 'UTC') as hour
  ) as present
  cross join lateral (
    select coalesce(sum(amount) filter (where type = $5), 0) as moved,
      coalesce(sum(amount) filter (where type = case $5 when 'payment' then 'fee' when 'payout' then 'payout_fee' end), 0) as fee
    from (
      select type, amount from posting
      where merchant_id = $1 and source_kind = $5 and source_id = part.id
      order by type offset 0
    ) as entry
  ) as booked
  left join lateral (
    select * from counted_fact
    where merchant_id = $1 and hour = present.hour and shop_id = present.shop_id and kind = $5 and id = part.id
    offset 0
  ) as counted on true
where counted.id is null or counted.moved <> booked.moved or counted.fee <> booked.fee
  or (counted.mode, counted.currency, counted.status, counted.amount)
    is distinct from (present.mode, present.currency, present.status, present.amount)
  or present.status not in ('pending', 'processing')
    and (counted.method, counted.bank, counted.failure_code)
      is distinct from (present.method, coalesce(present.bank, ''), coalesce(present.failure_code, ''))
limit 100;
