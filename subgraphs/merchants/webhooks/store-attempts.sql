-- Stores the results of webhook attempts of a merchant: each delivery moves on, and each attempt
-- gets its row. A result whose lease has ended is left alone: another process owns the delivery.
-- $1 the merchant.
-- $2 the results: [{id, created_at, lease_until, status, next_attempt_at, delivered_at, at,
--    duration_ms, answer_status, error, fault, response_head}], one of each delivery.
-- Gives the ids of the deliveries whose results were stored.
with result as materialized (
  select * from json_to_recordset($2::json) as (
    id uuid, created_at timestamptz, lease_until timestamptz, status text,
    next_attempt_at timestamptz, delivered_at timestamptz, at timestamptz, duration_ms int,
    answer_status int, error text, fault text, response_head text
  )
),
settled as (
  update webhook_delivery as delivery
  set status = result.status, attempts = attempts + 1, next_attempt_at = result.next_attempt_at,
    delivered_at = result.delivered_at, lease_until = null,
    -- The retries of a shop with a test clock follow that clock. Its row is locked, so that a
    -- concurrent removal of the clock includes this delivery.
    due_at = case when result.next_attempt_at is null or (
        exists (
          select 1 from event
          where event.merchant_id = $1 and event.id = delivery.event_id
            and event.created_at = delivery.created_at and event.mode = 'test'
        )
        and exists (
          select 1 from test_clock
          where test_clock.merchant_id = $1 and test_clock.shop_id = delivery.shop_id
          for share
        )
      ) then null else result.next_attempt_at end
  from result
  where delivery.merchant_id = $1 and delivery.id = result.id
    and delivery.created_at = result.created_at and delivery.lease_until = result.lease_until
    and delivery.status = 'pending'
  returning delivery.id, attempts
)
insert into webhook_attempt (merchant_id, delivery_id, number, at, duration_ms, status, error,
  fault, response_head, created_at)
select $1, id, attempts, at, duration_ms, answer_status, error, fault, response_head, created_at
from settled join result using (id)
returning delivery_id as "deliveryId";
