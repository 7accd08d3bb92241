-- The shops, modes and currencies in which the reserved money is not that of the pending refunds and
-- payouts. What is pending is found by its status in each shop and mode, not among all that ever was.
-- $1 the merchant.
-- Gives at most a hundred differences.
with part as (
  select shop.id, each.mode
  from shop cross join (values ('test'), ('live')) as each (mode)
  where shop.merchant_id = $1
),
waiting as (
  select part.id as shop_id, part.mode, payment.currency, refund.amount
  from part
    cross join lateral (
      select * from refund
      where merchant_id = $1 and shop_id = part.id and mode = part.mode and status = 'pending' offset 0
    ) as refund
    cross join lateral (
      select * from payment where merchant_id = $1 and id = refund.payment_id offset 0
    ) as payment
  union all
  select part.id, part.mode, payout.currency, payout.amount + payout.fee
  from part cross join lateral (
    select * from payout
    where merchant_id = $1 and shop_id = part.id and mode = part.mode and status = 'pending' offset 0
  ) as payout
),
due as (select shop_id, mode, currency, sum(amount) as amount from waiting group by 1, 2, 3),
reserved as (
  select shop_id, mode, currency, sum(amount) as amount
  from (
    select shop_id, mode, currency, account, amount from balance where merchant_id = $1
    union all
    select shop_id, mode, currency, account, amount from balance_delta where merchant_id = $1
  ) as moved
  where account = 'merchant_reserved'
  group by 1, 2, 3
)
select shop_id as "shopId", mode, concat_ws('/', shop_id, mode, currency) as "subjectId",
  'reserved are ' || coalesce(reserved.amount, 0) || ' ' || currency
    || ', the pending refunds and payouts are ' || coalesce(due.amount, 0) as detail,
  jsonb_build_object('currency', currency, 'found', coalesce(reserved.amount, 0)::text,
    'expected', coalesce(due.amount, 0)::text) as fields
from due full join reserved using (shop_id, mode, currency)
where coalesce(reserved.amount, 0) <> coalesce(due.amount, 0)
limit 100;
