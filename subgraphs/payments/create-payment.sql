-- Creates payments of a merchant, each with its event `payment.created`, the claim of its
-- idempotency key and the terms of its receipt. The names of shop and terminal are those of the
-- shop's row.
-- $1 the merchant.
-- $2 the payments: [{merchant_id, columns of the payment, event_id, key, fingerprint, request,
--    asks_later, terms}]. Without a key, nothing is claimed. Where the tables are sharded,
--    `public_number` and `position` come with each; else they are drawn here.
-- $3 whether it waits for the holder of a key, five seconds at most; else it leaves out a payment
--    whose key another call holds, and waits for a row a tenth of a second at most.
-- Gives what the caller does not know of the payments that were created. A payment is not created
-- when its key is taken, its id exists or its shop does not. `rate_bps` is of a saved method's.
with sent as materialized (
  select sent.*, shop.terminal_id, shop.terminal_name, shop.name as shop_name,
    hashtextextended('idempotency/' || sent.merchant_id || sent.mode || sent.key, 0) as key_lock
  from rows from (json_to_recordset($2::json) as (
    merchant_id uuid, id uuid, shop_id uuid, mode text, order_id text, amount int8, capture text,
    currency text, method text, status text, return_url text, on_decline text, webhook_url text,
    description text, customer_id text, metadata json, created_at timestamptz,
    expires_at timestamptz, planned_outcome text, planned_failure_code text, amount_usdt float8,
    receipt_terms_id uuid, made_by_key uuid, kind text, token_id uuid, subscription_id uuid,
    verification boolean, saved_reference text, connector text, bank_name text,
    processing_until timestamptz, ask_at timestamptz, event_id uuid, key text, fingerprint text,
    request text, asks_later boolean, terms json, public_number int8, position int8
  )) with ordinality as sent
  join shop on shop.merchant_id = $1 and shop.id = sent.shop_id
  where sent.merchant_id = $1
    and set_config('lock_timeout', case when $3::boolean then '5000' else '100' end, true) <> ''
),
claim as (
  insert into idempotency_key (merchant_id, mode, key, fingerprint, shop_id, resource_id, created_at,
    request, asking_until)
  select $1, mode, key, fingerprint, shop_id, id, created_at, request,
    case when asks_later then clock_timestamp() + interval '4 seconds' end
  from sent
  where key is not null and case
    when not $3 then pg_try_advisory_xact_lock(key_lock)
    -- What is left of the five seconds is for the row.
    when pg_advisory_xact_lock(key_lock) is not null then set_config('lock_timeout', greatest(1000,
      5000 - 1000 * extract(epoch from clock_timestamp() - statement_timestamp()))::int::text, true) <> ''
  end
  on conflict do nothing
  returning resource_id
),
created as (
  insert into payment (merchant_id, id, version, public_id, shop_id, terminal_id, terminal_name,
    shop_name, mode, order_id, amount, amount_refunded, capture, currency, method, status,
    return_url, on_decline, webhook_url, description, customer_id, metadata, created_at, expires_at,
    planned_outcome, planned_failure_code, amount_usdt, receipt_terms_id, made_by_key, kind,
    token_id, subscription_id, verification, saved_reference, connector, bank_name,
    processing_until, ask_at)
  select $1, id, 1, 'P-' || coalesce(public_number, nextval('payment_public_id')), shop_id,
    terminal_id, terminal_name, shop_name, mode, order_id, amount, 0, capture, currency, method,
    status, return_url, on_decline, webhook_url, description, customer_id, metadata, created_at,
    expires_at, planned_outcome, planned_failure_code, amount_usdt, receipt_terms_id, made_by_key,
    kind, token_id, subscription_id, coalesce(verification, false), saved_reference, connector,
    bank_name, processing_until, ask_at
  from sent
  where key is null or id in (select resource_id from claim)
  order by ordinality
  on conflict (merchant_id, id) do nothing
  returning id, public_id, shop_id, terminal_id, terminal_name, shop_name, method, kind, created_at
),
termed as (
  insert into receipt_terms (merchant_id, subject_id, shop_id, mode, payment_id, tax_system, items,
    customer_sealed, customer_shown, created_at)
  select $1, terms.subject_id, terms.shop_id, terms.mode, terms.payment_id, terms.tax_system,
    terms.items, terms.customer_sealed, terms.customer_shown, terms.created_at
  from created join sent on sent.id = created.id
    cross join lateral json_populate_record(null::receipt_terms, sent.terms) as terms
  where sent.terms is not null
),
published as (
  insert into event (merchant_id, id, position, shop_id, mode, subject_id, stream_kind, payload,
    created_at)
  select $1, sent.event_id, coalesce(sent.position, nextval('event_position_seq')), sent.shop_id,
    sent.mode, sent.id, 'payment.created',
    json_build_object('id', sent.id, 'amount', sent.amount, 'status', sent.status), sent.created_at
  from created join sent on sent.id = created.id
  -- The order of the calls is that of their events.
  order by sent.ordinality
)
select id, public_id as "publicId", terminal_id as "terminalId", terminal_name as "terminalName",
  shop_name as "shopName",
  case when kind is not null then coalesce((
    select rate_bps from rate
    where rate.method = created.method and rate.since <= created.created_at
      and (rate.merchant_id is null
        or rate.merchant_id = $1 and (rate.shop_id is null or rate.shop_id = created.shop_id))
    order by rate.shop_id nulls last, rate.merchant_id nulls last, rate.since desc limit 1
  ), 0) end as "rateBps"
from created;
