-- Confirms or refuses operations of a merchant, as their buyers do. The first confirmation decides;
-- an operation that would answer by itself answers now; one planned as pending never does.
-- $1 the merchant. $2 what the buyers do: [{merchant_id, operation_id, at, confirms}], once each.
-- $3 whether it waits for the holder of an operation; else it leaves a locked one alone.
-- Gives the operations as they are then.
with sent as materialized (
  select * from json_to_recordset($2::json)
    as (merchant_id uuid, operation_id uuid, at timestamptz, confirms boolean)
  where merchant_id = $1
),
free as materialized (
  select sent.operation_id from sent cross join lateral (
    select operation_id from simulator_operation
    where merchant_id = $1 and operation_id = sent.operation_id
    for update skip locked
  ) as unlocked
  where not $3::boolean
)
update simulator_operation as operation set
  answer_at = case
    when operation.outcome = 'pending' or operation.answer_at <= sent.at then operation.answer_at
    else sent.at end,
  outcome = case
    when operation.outcome = 'pending' or operation.answer_at <= sent.at
      or (sent.confirms and operation.outcome = 'failed') then operation.outcome
    when sent.confirms then 'succeeded' else 'failed' end,
  failure_code = case
    when operation.outcome = 'pending' or operation.answer_at <= sent.at or sent.confirms
      then operation.failure_code
    else 'authentication_failed' end
from sent
where operation.merchant_id = $1 and operation.operation_id = sent.operation_id
  and ($3 or sent.operation_id in (select operation_id from free))
returning operation.operation_id as "operationId", reference, outcome,
  failure_code as "failureCode", answer_at as "answerAt", card_brand as "cardBrand",
  card_mask as "cardMask", card_holder as "cardHolder", silent_until as "silentUntil", holds;
