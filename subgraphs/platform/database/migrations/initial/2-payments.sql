-- Payments, their hosted pages and links, and refunds.

-- Numbers the public ids of payments.
create sequence payment_public_id start 100001;

-- A payment, from its creation to its final status. `version` grows with each change.
create table payment (
  merchant_id uuid not null,
  id uuid not null,
  version int not null,
  public_id text not null,
  shop_id uuid not null,
  terminal_id uuid not null,
  terminal_name text not null,
  shop_name text not null,
  mode text not null,
  order_id text not null,
  amount bigint not null,
  amount_refunded bigint not null,
  amount_usdt double precision,
  currency text not null,
  method text not null,
  status text not null,
  rrn text,
  bank_name text,
  return_url text,
  webhook_url text,
  description text,
  customer_id text,
  metadata json not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  processing_until timestamptz(3),
  captured_at timestamptz(3),
  finalized_at timestamptz(3),
  ask_at timestamptz(3),
  customer_card_brand text,
  customer_card_mask text,
  customer_card_holder text,
  customer_phone_mask text,
  customer_payer_bank text,
  fee bigint,
  fee_rate_bps int,
  bank_ref text,
  step text,
  step_url text,
  failure_code text,
  planned_outcome text,
  planned_failure_code text,
  connector text,
  kind text,
  token_id uuid,
  subscription_id uuid,
  saved_reference text,
  verification boolean not null default false,
  ordered_at timestamptz(3),
  capture text,
  amount_captured bigint,
  capture_before timestamptz(3),
  on_decline text,
  hold_order text,
  hold_key uuid,
  receipt_terms_id uuid,
  capture_terms_id uuid,
  made_by_key uuid,
  primary key (merchant_id, id),
  constraint payment_amount check (amount >= 1 and amount <= 9007199254740991),
  constraint payment_refunded check (amount_refunded >= 0 and amount_refunded <= amount),
  constraint payment_fee check (fee is null or (fee >= 0 and fee <= amount)),
  constraint payment_processing check (status <> 'processing' or processing_until is not null),
  constraint payment_kind check (
    kind in ('token_bind', 'subscription_init', 'token_charge', 'subscription_charge')
  ),
  constraint payment_of_token check ((kind is null) = (token_id is null)),
  constraint payment_capture check (capture = 'manual'),
  constraint payment_on_decline check (on_decline = 'stay'),
  constraint payment_captured check (amount_captured >= 1 and amount_captured <= amount),
  constraint payment_hold check (
    ((hold_order is null) = (hold_key is null))
    and hold_order in ('capture', 'cancel', 'end', 'give_up')
  ),
  constraint payment_authorized check (status <> 'authorized' or capture_before is not null),
  constraint payment_status check (
    status in (
      'pending', 'processing', 'authorized', 'succeeded', 'failed', 'expired', 'cancelled',
      'refunded'
    )
  )
);
create index payment_registry on payment (merchant_id, shop_id, mode, created_at, id);
create index payment_link_due on payment (expires_at) where status = 'pending';
create index payment_session_due on payment (processing_until) where status = 'processing';
create index payment_ask_due on payment (ask_at) where ask_at is not null;
create index payment_public on payment (public_id);
create index payment_order on payment (merchant_id, order_id text_pattern_ops);
create index payment_of_customer on payment (merchant_id, customer_id, created_at, id)
  where customer_id is not null;
create index payment_rrn on payment (merchant_id, rrn) where rrn is not null;
create index payment_filter on payment (merchant_id, shop_id, mode, status, created_at, id);
create index payment_hold_due on payment (capture_before)
  where status = 'authorized' and hold_order is null;
create index payment_newest on payment (mode, created_at, id);
create index payment_hold_open on payment (hold_order) where hold_order is not null;
create index payment_due_of_merchant on payment (merchant_id, ask_at) where ask_at is not null;

-- An opening of the hosted page of a payment. A process writes one row for each payment that it
-- remembers, so the first row is the first opening. Nothing says who opened it.
create table page_opening (
  merchant_id uuid not null,
  payment_id uuid not null,
  created_at timestamptz(3) not null,
  primary key (merchant_id, payment_id, created_at)
) partition by range (created_at);
create table partitions.page_opening_default partition of page_opening default
  with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
create index page_opening_default_age on partitions.page_opening_default (created_at);

-- What a person wrote about a payment, for colleagues. The number counts the notes of a payment.
create table payment_note (
  merchant_id uuid not null,
  payment_id uuid not null,
  number int not null,
  id uuid not null,
  author text not null,
  created_at timestamptz(3) not null,
  text text not null,
  primary key (merchant_id, payment_id, number),
  constraint payment_note_number check (number >= 1 and number <= 100)
);

-- A payment link: a page that makes payments. Its id is random, because the address of the page
-- contains it.
create table payment_link (
  merchant_id uuid not null,
  id uuid not null,
  shop_id uuid not null,
  mode text not null,
  url text not null,
  status text not null,
  amount bigint,
  amount_min bigint,
  amount_max bigint,
  currency text not null,
  description text,
  order_id text,
  method text not null,
  capture text,
  uses int,
  uses_left int,
  return_url text,
  metadata json not null,
  payments_count int not null,
  amount_paid numeric not null,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  finalized_at timestamptz(3),
  receipt json,
  primary key (merchant_id, id),
  constraint payment_link_uses check (uses_left is null or uses_left >= 0),
  constraint payment_link_status check (status in ('active', 'paid', 'expired', 'deactivated'))
);
create index payment_link_registry on payment_link (merchant_id, shop_id, mode, created_at, id);
create index payment_link_filter on payment_link (merchant_id, shop_id, mode, status, created_at, id);
create index payment_link_address on payment_link (id);
create index payment_link_ends on payment_link (expires_at) where status = 'active';

-- Which link a payment was made through.
create table link_payment (
  merchant_id uuid not null,
  payment_id uuid not null,
  link_id uuid not null,
  primary key (merchant_id, payment_id)
);
create index link_payment_of_link on link_payment (merchant_id, link_id, payment_id);

-- A refund of a payment, or of a part of it.
create table refund (
  merchant_id uuid not null,
  id uuid not null,
  payment_id uuid not null,
  shop_id uuid not null,
  mode text not null,
  amount bigint not null,
  reason text,
  status text not null,
  fail_reason text,
  created_at timestamptz(3) not null,
  completed_at timestamptz(3),
  bank_ref text,
  ask_at timestamptz(3),
  receipt_terms_id uuid,
  metadata json,
  primary key (merchant_id, id),
  constraint refund_amount check (amount >= 1 and amount <= 9007199254740991),
  constraint refund_final check ((status = 'pending') = (completed_at is null)),
  constraint refund_failed check ((status = 'failed') = (fail_reason is not null)),
  constraint refund_status check (status in ('pending', 'succeeded', 'failed'))
);
create index refund_registry on refund (merchant_id, shop_id, mode, created_at, id);
create index refund_payment on refund (merchant_id, payment_id, created_at, id);
create index refund_ask_due on refund (ask_at) where ask_at is not null;
create index refund_filter on refund (merchant_id, shop_id, mode, status, created_at, id);
create index refund_pending on refund (created_at) where status = 'pending';
create index refund_newest on refund (mode, created_at, id);
create index refund_due_of_merchant on refund (merchant_id, ask_at) where ask_at is not null;

-- A refund that one person proposes and another approves or rejects. The refund that is made of it
-- has its id.
create table refund_draft (
  merchant_id uuid not null,
  id uuid not null,
  payment_id uuid not null,
  shop_id uuid not null,
  mode text not null,
  amount bigint not null,
  currency text not null,
  status text not null,
  reason text not null,
  receipt_terms_id uuid,
  created_by text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  decided_by text,
  decided_at timestamptz(3),
  reject_reason text,
  refusal_code text,
  refusal_message text,
  refused_at timestamptz(3),
  primary key (merchant_id, id),
  constraint refund_draft_amount check (amount >= 1 and amount <= 9007199254740991),
  constraint refund_draft_status check (status in ('pending', 'approved', 'rejected', 'expired')),
  constraint refund_draft_decided check ((status = 'pending') = (decided_at is null)),
  constraint refund_draft_two check (status <> 'approved' or decided_by <> created_by)
);
create index refund_draft_registry on refund_draft (merchant_id, shop_id, mode, created_at, id);
create index refund_draft_filter on refund_draft (merchant_id, shop_id, mode, status, created_at, id);
create index refund_draft_newest on refund_draft (mode, created_at, id);
create index refund_draft_pending on refund_draft (merchant_id, mode) where status = 'pending';
create index refund_draft_ends on refund_draft (expires_at) where status = 'pending';
create index refund_draft_payment on refund_draft (merchant_id, payment_id, created_at, id);
