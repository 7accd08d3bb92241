-- Adds the postings of a range to sums by account, of the accounts with a stored balance.
-- $1 the merchant; $2 and $3 behind this id, up to and with that one; $4 the sums before it, as JSON.
-- Gives the sums, as JSON: [{shop_id, mode, currency, account, amount}].
with moved as (
  select * from jsonb_to_recordset($4::jsonb)
    as sum (shop_id uuid, mode text, currency text, account text, amount numeric)
  union all
  select entry.shop_id, entry.mode, entry.currency, side.account, side.amount
  from posting as entry cross join lateral (values
    (entry.to_account, entry.amount), (entry.from_account, -entry.amount)
  ) as side (account, amount)
  where entry.merchant_id = $1 and entry.id > $2::uuid and entry.id <= $3::uuid
    and side.account in ('merchant', 'merchant_reserved')
),
total as (
  select shop_id, mode, currency, account, sum(amount) as amount from moved group by 1, 2, 3, 4
)
select coalesce(jsonb_agg(to_jsonb(total)), '[]')::text as sums from total;
