-- The hours of the reports that are not what is counted in them: those of a merchant's shops, or
-- those of the merchant, whose shop is the id of zeros. Facts and hours change by one statement.
-- $1 the merchant; $2 and $3 behind this hour, up to and with that one; $4 true: of the merchant.
-- Gives at most a hundred differences.
with part as materialized (
  select case when $4::boolean then uuid '00000000-0000-0000-0000-000000000000' else shop_id end as place,
    fact.*
  from counted_fact as fact
  where merchant_id = $1 and hour > $2::timestamptz and hour <= $3::timestamptz
),
moves as (
  select place, mode, currency, kind, hour, method, bank, '' as failure_code, status, amount, moved, fee from part
  union all
  select place, mode, currency, kind || '_failure', hour, '', '', failure_code, status, amount, 0, 0 from part
  where status = 'failed'
),
due as (
  select place, mode, currency, kind, hour, method, bank, failure_code, each.column, sum(each.value) as value
  from moves cross join lateral (values
    ('count_' || status, 1), ('amount_' || status, amount), ('moved', moved), ('fee', fee)
  ) as each ("column", value)
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9
),
kept as (
  select total.shop_id as place, total.mode, total.currency, total.kind, total.hour, total.method, total.bank,
    total.failure_code, each.key as "column", each.value::numeric as value
  from (
      select distinct place, mode, currency, each.kind
      from part cross join lateral (values (kind), (kind || '_failure')) as each (kind)
    ) as counted
    cross join lateral (
      select * from hourly_total
      where merchant_id = $1 and shop_id = counted.place and mode = counted.mode
        and currency = counted.currency and kind = counted.kind
        and hour > $2::timestamptz and hour <= $3::timestamptz
      offset 0
    ) as total
    cross join lateral jsonb_each_text(to_jsonb(total)) as each
  where each.key in ('moved', 'fee') or each.key ~ '^(count|amount)_'
)
select nullif(place, uuid '00000000-0000-0000-0000-000000000000') as "shopId", mode,
  concat_ws('/', nullif(place, uuid '00000000-0000-0000-0000-000000000000'), mode, currency, kind, hour) as "subjectId",
  'the hour ' || hour || ' of ' || kind || ' ' || currency || ' differs from what is counted in it: '
    || string_agg("column" || ' ' || coalesce(kept.value, 0) || ', counted ' || coalesce(due.value, 0), '; ' order by "column") as detail,
  jsonb_build_object('currency', currency) as fields
from kept full join due using (place, mode, currency, kind, hour, method, bank, failure_code, "column")
where coalesce(kept.value, 0) <> coalesce(due.value, 0)
group by place, mode, currency, kind, hour
limit 100;
