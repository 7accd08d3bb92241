-- Moves pending payouts of a merchant to their next state, each with its postings, balance deltas
-- and events. The reference is part of what its webhook says, so it must be the one that was read.
-- $1 the merchant.
-- $2 the changes: [{merchant_id, id, read_ref, status, fail_reason, bank_ref, completed_at, ask_at,
--    postings, deltas, events}], one of each payout.
-- $3 whether it waits for the holder of a payout; else it leaves a locked one alone.
-- Gives the ids of the payouts that were moved.
with sent as materialized (
  select * from rows from (json_to_recordset($2::json) as (
    merchant_id uuid, id uuid, read_ref text, status text, fail_reason text, bank_ref text,
    completed_at timestamptz, ask_at timestamptz, postings json, deltas json, events json
  )) with ordinality
  where merchant_id = $1 and ($3::boolean or set_config('lock_timeout', '100', true) <> '')
),
free as materialized (
  select sent.id from sent cross join lateral (
    select id from payout
    where merchant_id = $1 and id = sent.id and status = 'pending'
      and bank_ref is not distinct from sent.read_ref
    for update skip locked
  ) as unlocked
  where not $3
),
moved as (
  update payout set status = sent.status, fail_reason = sent.fail_reason, bank_ref = sent.bank_ref,
    completed_at = sent.completed_at, ask_at = sent.ask_at
  from sent
  where payout.merchant_id = $1 and payout.id = sent.id and payout.status = 'pending'
    and payout.bank_ref is not distinct from sent.read_ref
    and ($3 or sent.id in (select id from free))
  returning payout.id
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
)
select id from moved;
