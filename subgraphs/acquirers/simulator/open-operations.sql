-- Records operations that a merchant orders; one that is there stays as it is.
-- $1 the merchant. $2 the operations: [{columns of the operation}].
-- $3 whether it waits for an operation that is being written; else a tenth of a second at most.
insert into simulator_operation (merchant_id, operation_id, reference, outcome, failure_code,
  answer_at, card_brand, card_mask, card_holder, created_at, silent_until, holds, first_charge)
select $1, operation_id, reference, outcome, failure_code, answer_at, card_brand, card_mask,
  card_holder, created_at, silent_until, holds, first_charge
from json_populate_recordset(null::simulator_operation, $2::json)
where $3::boolean or set_config('lock_timeout', '100', true) <> ''
order by operation_id
on conflict (merchant_id, operation_id) do nothing;
