-- The balances of a merchant that are not the sum of their hours.
-- $1 the merchant.
-- Gives at most a hundred differences.
with kept as (
  select shop_id, mode, currency, account, sum(amount) as amount
  from balance where merchant_id = $1 group by 1, 2, 3, 4
),
entered as (
  select shop_id, mode, currency, account, sum(amount) as amount
  from ledger_hour where merchant_id = $1 group by 1, 2, 3, 4
)
select shop_id as "shopId", mode, concat_ws('/', shop_id, mode, currency, account) as "subjectId",
  'the balance ' || mode || '/' || currency || '/' || account || ' of the shop is '
    || coalesce(kept.amount, 0) || ', its hours sum to ' || coalesce(entered.amount, 0) as detail,
  jsonb_build_object('account', account, 'currency', currency,
    'found', coalesce(kept.amount, 0)::text, 'expected', coalesce(entered.amount, 0)::text) as fields
from kept full join entered using (shop_id, mode, currency, account)
where coalesce(kept.amount, 0) <> coalesce(entered.amount, 0)
limit 100;
