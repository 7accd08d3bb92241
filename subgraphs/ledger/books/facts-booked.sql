-- The payments, refunds or payouts of a range that do not have exactly the postings that the
-- accounting policy lists. The policy is written here a second time, so that a mistake in the first
-- place is not repeated.
-- $1 the merchant; $2 and $3 behind this id, up to and with that one; $4 rows at most, null: all;
-- $5 payment, refund or payout.
-- Gives at most a hundred differences.
with part as materialized (
  (select id, shop_id, mode, status from payment
    where $5::text = 'payment' and merchant_id = $1 and id > $2::uuid and id <= $3::uuid order by id limit $4::int)
  union all
  (select id, shop_id, mode, status from refund
    where $5 = 'refund' and merchant_id = $1 and id > $2 and id <= $3 order by id limit $4)
  union all
  (select id, shop_id, mode, status from payout
    where $5 = 'payout' and merchant_id = $1 and id > $2 and id <= $3 order by id limit $4)
),
-- A verification of a card is voided at the bank: it moves no money.
expected as (
  select part.id, part.shop_id, part.mode, due.type, due.amount
  from part cross join lateral (
    -- Money that came is marked by its moment, also when it came too late.
    select each.type, each.amount
    from payment cross join lateral (values
      ('payment', coalesce(payment.amount_captured, payment.amount)), ('fee', payment.fee)
    ) as each (type, amount)
    where $5 = 'payment' and payment.merchant_id = $1 and payment.id = part.id
      and payment.captured_at is not null and not (payment.verification and payment.method = 'cards')
    union all
    -- The part of a late success that cannot be returned leaves the merchant's money by an
    -- adjustment, not by a release.
    select each.type, refund.amount
    from refund
      join payment on payment.merchant_id = $1 and payment.id = refund.payment_id
      cross join lateral (values
        ('reserve', true), ('refund', part.status = 'succeeded'),
        ('release', part.status = 'failed' and payment.status in ('succeeded', 'refunded')),
        ('adjustment', part.status = 'failed' and payment.status not in ('succeeded', 'refunded'))
      ) as each (type, is_due)
    where $5 = 'refund' and refund.merchant_id = $1 and refund.id = part.id
      and each.is_due and not (payment.verification and payment.method = 'cards')
    union all
    -- A payout that was never sent to a bank is failed from the beginning and reserved no money.
    select each.type, each.amount
    from payout
      cross join lateral (select exists (
        select 1 from posting
        where merchant_id = $1 and source_kind = 'payout' and source_id = payout.id
        order by type offset 0
      ) as opened) as reserved
      cross join lateral (values
        ('reserve', payout.amount + payout.fee, part.status <> 'failed' or reserved.opened),
        ('payout', payout.amount, part.status = 'succeeded'),
        ('payout_fee', payout.fee, part.status = 'succeeded'),
        ('release', payout.amount + payout.fee, part.status = 'failed' and reserved.opened)
      ) as each (type, amount, is_due)
    where $5 = 'payout' and payout.merchant_id = $1 and payout.id = part.id and each.is_due
    offset 0
  ) as due (type, amount)
  where due.amount > 0
),
actual as (
  select part.id, entry.shop_id, entry.mode, entry.type, entry.amount
  from part cross join lateral (
    select * from posting
    where merchant_id = $1 and source_kind = $5 and source_id = part.id
    order by type offset 0
  ) as entry
),
wrong as materialized (
  select coalesce(expected.id, actual.id) as id, actual.id is null as is_lacking,
    coalesce(expected.type, actual.type) as type, coalesce(expected.amount, actual.amount) as amount
  from expected full join actual using (id, shop_id, mode, type, amount)
  where expected.id is null or actual.id is null
)
select part.shop_id as "shopId", part.mode, part.id::text as "subjectId",
  'the ' || $5 || ' is ' || part.status || ' and '
    || string_agg(
      case when wrong.is_lacking then 'lacks the posting ' else 'has an unexpected posting ' end
        || wrong.type || ' of ' || wrong.amount,
      ', ' order by wrong.is_lacking, wrong.type, wrong.amount
    ) as detail,
  jsonb_strip_nulls(jsonb_build_object(
    'status', part.status,
    'lacking', string_agg(wrong.type || ' ' || wrong.amount, ', ' order by wrong.type, wrong.amount)
      filter (where wrong.is_lacking),
    'unexpected', string_agg(wrong.type || ' ' || wrong.amount, ', ' order by wrong.type, wrong.amount)
      filter (where not wrong.is_lacking)
  )) as fields
from wrong join part using (id)
group by part.id, part.shop_id, part.mode, part.status
limit 100;
