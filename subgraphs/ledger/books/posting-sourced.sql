-- The postings of a range whose shop, payment, refund or payout does not exist. A settlement or an
-- adjustment is its own fact: the operator's entry.
-- $1 the merchant; $2 and $3 behind this id, up to and with that one; $4 rows at most, null: all.
-- Gives at most a hundred differences.
select entry.shop_id as "shopId", entry.mode, entry.id::text as "subjectId",
  'the posting ' || entry.type || ' of ' || entry.amount || ' is of a ' || lacking.what
    || ' that does not exist' as detail,
  jsonb_build_object('unexpected', concat(entry.type, ' ', entry.amount), 'lacking', lacking.what) as fields
from (
    select * from posting
    where merchant_id = $1 and id > $2::uuid and id <= $3::uuid
    order by id limit $4::int
  ) as entry
  cross join lateral (
    select case
      when not exists (select 1 from shop where merchant_id = $1 and id = entry.shop_id offset 0) then 'shop'
      when not case entry.source_kind
        when 'payment' then exists (select 1 from payment where merchant_id = $1 and id = entry.source_id offset 0)
        when 'refund' then exists (select 1 from refund where merchant_id = $1 and id = entry.source_id offset 0)
        when 'payout' then exists (select 1 from payout where merchant_id = $1 and id = entry.source_id offset 0)
        else true
      end then entry.source_kind
    end as what
  ) as lacking
where lacking.what is not null
limit 100;
