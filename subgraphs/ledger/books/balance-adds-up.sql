-- The balances of a merchant, each with its unfolded deltas, that are not the sum of their postings.
-- $1 the merchant; $2 the posting up to which the sums are; $3 these sums, as sum-postings.sql gives
-- them.
-- Gives at most a hundred differences.
with kept as (
  select shop_id, mode, currency, account, sum(amount) as amount
  from (
    select shop_id, mode, currency, account, amount from balance where merchant_id = $1
    union all
    select shop_id, mode, currency, account, amount from balance_delta where merchant_id = $1
  ) as moved
  group by 1, 2, 3, 4
),
entered as (
  select shop_id, mode, currency, account, sum(amount) as amount
  from (
    select * from jsonb_to_recordset($3::jsonb)
      as sum (shop_id uuid, mode text, currency text, account text, amount numeric)
    union all
    select entry.shop_id, entry.mode, entry.currency, side.account, side.amount
    from posting as entry cross join lateral (values
      (entry.to_account, entry.amount), (entry.from_account, -entry.amount)
    ) as side (account, amount)
    where entry.merchant_id = $1 and entry.id > $2::uuid
      and side.account in ('merchant', 'merchant_reserved')
  ) as moved
  group by 1, 2, 3, 4
)
select shop_id as "shopId", mode, concat_ws('/', shop_id, mode, currency, account) as "subjectId",
  'the balance ' || mode || '/' || currency || '/' || account || ' of the shop is '
    || coalesce(kept.amount, 0) || ', its entries sum to ' || coalesce(entered.amount, 0) as detail,
  jsonb_build_object('account', account, 'currency', currency,
    'found', coalesce(kept.amount, 0)::text, 'expected', coalesce(entered.amount, 0)::text) as fields
from kept full join entered using (shop_id, mode, currency, account)
where coalesce(kept.amount, 0) <> coalesce(entered.amount, 0)
limit 100;
