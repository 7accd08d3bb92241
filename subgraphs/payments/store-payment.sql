-- Moves payments of a merchant to their next state, each with its postings, balance deltas, events,
-- refunds and receipts. A refund is made, moved and booked here too: `refunded` writes its row,
-- `booked` its postings.
-- $1 the merchant.
-- $2 the changes: [{merchant_id, id, version, columns that change, shop_id, read_method, rate_bps,
--    postings, deltas, events, refunds, receipts}], one of each payment. Its version proves that its
--    method is still the one that was read.
-- $3 whether it waits for the holder of a payment; else it leaves a locked one alone.
-- Gives the ids of the payments that were moved. One is left alone when its version is another, or
-- when `rate_bps` is given and is no longer the rate of its method.
with sent as materialized (
  select * from rows from (json_to_recordset($2::json) as (
    merchant_id uuid, id uuid, version int, status text, method text, metadata json,
    amount_refunded int8, amount_captured int8, capture_terms_id uuid, capture_before timestamptz,
    hold_order text, hold_key uuid, rrn text, bank_name text, connector text, bank_ref text,
    processing_until timestamptz, captured_at timestamptz, finalized_at timestamptz,
    ask_at timestamptz, ordered_at timestamptz, customer_card_brand text, customer_card_mask text,
    customer_card_holder text, customer_phone_mask text, customer_payer_bank text, fee int8,
    fee_rate_bps int, step text, step_url text, failure_code text, planned_outcome text,
    planned_failure_code text, saved_reference text, shop_id uuid, read_method text, rate_bps int,
    postings json, deltas json, events json, refunds json, receipts json
  )) with ordinality as sent
  -- The planner expects one row of this, and looks payments up by their keys.
  where merchant_id = $1
    and case when rate_bps is null then true else rate_bps = coalesce((
      select rate.rate_bps from rate
      where rate.method = sent.read_method and rate.since <= sent.finalized_at
        and (rate.merchant_id is null
          or rate.merchant_id = $1 and (rate.shop_id is null or rate.shop_id = sent.shop_id))
      order by rate.shop_id nulls last, rate.merchant_id nulls last, rate.since desc limit 1
    ), 0) end
),
free as materialized (
  select sent.id from sent cross join lateral (
    select id from payment
    where merchant_id = $1 and id = sent.id and version = sent.version
    for update skip locked
  ) as unlocked
  where not $3::boolean
),
moved as (
  update payment set version = payment.version + 1, status = sent.status, method = sent.method,
    metadata = sent.metadata, amount_refunded = sent.amount_refunded,
    amount_captured = sent.amount_captured, capture_terms_id = sent.capture_terms_id,
    capture_before = sent.capture_before, hold_order = sent.hold_order, hold_key = sent.hold_key,
    rrn = sent.rrn, bank_name = sent.bank_name, connector = sent.connector,
    bank_ref = sent.bank_ref, processing_until = sent.processing_until,
    captured_at = sent.captured_at, finalized_at = sent.finalized_at, ask_at = sent.ask_at,
    ordered_at = sent.ordered_at, customer_card_brand = sent.customer_card_brand,
    customer_card_mask = sent.customer_card_mask, customer_card_holder = sent.customer_card_holder,
    customer_phone_mask = sent.customer_phone_mask, customer_payer_bank = sent.customer_payer_bank,
    fee = sent.fee, fee_rate_bps = sent.fee_rate_bps, step = sent.step, step_url = sent.step_url,
    failure_code = sent.failure_code, planned_outcome = sent.planned_outcome,
    planned_failure_code = sent.planned_failure_code, saved_reference = sent.saved_reference
  from sent
  where payment.merchant_id = $1 and payment.id = sent.id and payment.version = sent.version
    and ($3 or sent.id in (select id from free))
  returning payment.id
),
booked as (
  insert into posting (merchant_id, id, shop_id, mode, currency, type, from_account, to_account,
    amount, description, source_kind, source_id, payment_id, payout_id, created_at)
  select $1, row.id, row.shop_id, row.mode, row.currency, row.type, row.from_account,
    row.to_account, row.amount, row.description, row.source_kind, row.source_id, row.payment_id,
    row.payout_id, row.created_at
  from moved join sent on sent.id = moved.id
    cross join lateral json_populate_recordset(null::posting, sent.postings) as row
),
balanced as (
  insert into balance_delta (merchant_id, id, shop_id, mode, currency, account, amount, hour, moved)
  select $1, row.id, row.shop_id, row.mode, row.currency, row.account, row.amount, row.hour,
    row.moved
  from moved join sent on sent.id = moved.id
    cross join lateral json_populate_recordset(null::balance_delta, sent.deltas) as row
),
published as (
  insert into event (merchant_id, id, position, shop_id, mode, subject_id, stream_kind, payload,
    webhook_event, webhook_body, webhook_url, follower, created_at)
  select $1, row.id, coalesce(row.position, nextval('event_position_seq')), row.shop_id, row.mode,
    row.subject_id, row.stream_kind, row.payload, row.webhook_event, row.webhook_body,
    row.webhook_url, row.follower, row.created_at
  from moved join sent on sent.id = moved.id
    cross join lateral json_populate_recordset(null::event, sent.events) with ordinality as row
  order by sent.ordinality, row.ordinality
),
refunded as (
  insert into refund (merchant_id, id, payment_id, shop_id, mode, amount, reason, status,
    fail_reason, created_at, completed_at, bank_ref, ask_at, receipt_terms_id, metadata)
  select $1, row.id, row.payment_id, row.shop_id, row.mode, row.amount, row.reason, row.status,
    row.fail_reason, row.created_at, row.completed_at, row.bank_ref, row.ask_at,
    row.receipt_terms_id, row.metadata
  from moved join sent on sent.id = moved.id
    cross join lateral json_populate_recordset(null::refund, sent.refunds) as row
  on conflict (merchant_id, id) do update set status = excluded.status,
    fail_reason = excluded.fail_reason, completed_at = excluded.completed_at,
    bank_ref = excluded.bank_ref, ask_at = excluded.ask_at
),
receipted as (
  -- One without its terms fails: a movement must not be written without its receipt.
  insert into receipt (merchant_id, id, version, shop_id, mode, payment_id, refund_id, type, status,
    amount, currency, terms_id, attempt, tax_system, items, customer_shown, ask_at, created_at)
  select $1, row.id, 1, row.shop_id, row.mode, row.payment_id, row.refund_id, row.type, 'pending',
    row.amount, row.currency, row.terms_id, 0, terms.tax_system, terms.items, terms.customer_shown,
    row.ask_at, row.created_at
  from moved join sent on sent.id = moved.id
    cross join lateral json_populate_recordset(null::receipt, sent.receipts) as row
    left join lateral (
      select tax_system, items, customer_shown from receipt_terms
      where merchant_id = $1 and subject_id = row.terms_id
      limit 1
    ) as terms on true
)
select id from moved;
