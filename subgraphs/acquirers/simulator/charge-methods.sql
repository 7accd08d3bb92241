-- Charges saved methods of a merchant. An order is written when its method can be charged; a
-- repeated one changes nothing. A method may refuse its first charge.
-- $1 the merchant.
-- $2 the charges: [{merchant_id, operation_id, bound_id, planned, planned_code, decided_at,
--    ordered_at}]; `bound_id` is the operation that bound the method.
-- $3 whether it waits for a charge that is being written; else a tenth of a second at most.
-- Gives the charges that were written.
with sent as materialized (
  select * from json_to_recordset($2::json) as (merchant_id uuid, operation_id uuid, bound_id uuid,
    planned text, planned_code text, decided_at timestamptz, ordered_at timestamptz)
  where merchant_id = $1 and set_config('lock_timeout',
    case when $3::boolean then current_setting('lock_timeout') else '100' end, true) <> ''
),
refusing as materialized (
  select sent.operation_id, sent.bound_id from sent cross join lateral (
    select first_charge from simulator_operation
    where merchant_id = $1 and operation_id = sent.bound_id
    limit 1
  ) as bound
  where bound.first_charge = sent.bound_id
),
refused as (
  update simulator_operation as bound set first_charge = refusing.operation_id from refusing
  where bound.merchant_id = $1 and bound.operation_id = refusing.bound_id
)
insert into simulator_operation (merchant_id, operation_id, reference, outcome, failure_code,
  answer_at, card_brand, card_mask, card_holder, created_at)
select $1, sent.operation_id, 'sim_' || sent.operation_id,
  case when bound.first_charge = bound.operation_id then 'failed' else planned end,
  case when bound.first_charge = bound.operation_id then 'insufficient_funds' else planned_code end,
  case when bound.first_charge = bound.operation_id then ordered_at else decided_at end,
  bound.card_brand, bound.card_mask, bound.card_holder, ordered_at
from sent cross join lateral (
  select * from simulator_operation
  where merchant_id = $1 and operation_id = sent.bound_id
  limit 1
) as bound
where bound.outcome <> 'failed' and bound.answer_at <= ordered_at
on conflict (merchant_id, operation_id) do nothing
returning operation_id as "operationId", reference, outcome, failure_code as "failureCode",
  answer_at as "answerAt", card_brand as "cardBrand", card_mask as "cardMask",
  card_holder as "cardHolder";
