-- Takes orders of payouts and refunds of a merchant. A repeated order finds the first; one that is
-- being taken at this very moment is not seen yet.
-- $1 the merchant.
-- $2 the orders: [{merchant_id, operation_id, outcome, failure_code, answer_at, created_at}].
-- $3 whether it waits for an order that is being taken; else a tenth of a second at most.
-- Gives the operations; `fresh` is one for which no order came before.
with sent as materialized (
  select * from json_populate_recordset(null::simulator_operation, $2::json)
  where merchant_id = $1 and ($3::boolean or set_config('lock_timeout', '100', true) <> '')
),
taken as (
  insert into simulator_operation (merchant_id, operation_id, reference, outcome, failure_code,
    answer_at, created_at)
  select $1, operation_id, 'sim_' || operation_id, outcome, failure_code, answer_at, created_at
  from sent
  on conflict (merchant_id, operation_id) do nothing
  returning operation_id, reference, outcome, failure_code, answer_at
)
select operation_id as "operationId", reference, outcome, failure_code as "failureCode",
  answer_at as "answerAt", true as fresh
from taken
union all
select found.* from sent cross join lateral (
  select operation_id, reference, outcome, failure_code, answer_at, false
  from simulator_operation
  where merchant_id = $1 and operation_id = sent.operation_id
  limit 1
) as found;
