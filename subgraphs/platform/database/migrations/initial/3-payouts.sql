-- Payouts to recipients.

-- A payout to a phone by SBP, to a card, or to an account.
create table payout (
  merchant_id uuid not null,
  id uuid not null,
  shop_id uuid not null,
  terminal_id uuid not null,
  mode text not null,
  amount bigint not null,
  currency text not null,
  method text not null,
  status text not null,
  fail_reason text,
  recipient_phone text,
  recipient_bank_id text,
  recipient_name text,
  recipient_card_mask text,
  bank_ref text,
  created_at timestamptz(3) not null,
  completed_at timestamptz(3),
  fee bigint not null,
  connector text,
  recipient_account text,
  recipient_bik text,
  recipient_inn text,
  sent_at timestamptz(3),
  ask_at timestamptz(3),
  order_id text,
  metadata json,
  primary key (merchant_id, id),
  constraint payout_amount check (amount >= 1 and amount <= 9007199254740991),
  constraint payout_fee check (fee >= 0 and fee <= 9007199254740991),
  constraint payout_final check ((status = 'pending') = (completed_at is null)),
  constraint payout_failed check ((status = 'failed') = (fail_reason is not null)),
  constraint payout_status check (status in ('pending', 'succeeded', 'failed')),
  constraint payout_method check (method in ('payouts_sbp', 'payouts_card', 'payouts_account'))
);
create index payout_registry on payout (merchant_id, shop_id, mode, created_at, id);
create index payout_filter on payout (merchant_id, shop_id, mode, status, method, created_at, id);
create index payout_order on payout (merchant_id, order_id, created_at, id)
  where order_id is not null;
create index payout_ask_due on payout (ask_at) where ask_at is not null;
create index payout_pending on payout (created_at) where status = 'pending';
create index payout_newest on payout (mode, created_at, id);
create index payout_due_of_merchant on payout (merchant_id, ask_at) where ask_at is not null;

-- A payout that one person proposes and another approves or rejects. The payout that is made of it
-- has its id.
create table payout_draft (
  merchant_id uuid not null,
  id uuid not null,
  shop_id uuid not null,
  mode text not null,
  amount bigint not null,
  currency text not null,
  method text not null,
  status text not null,
  recipient_phone text,
  recipient_bank_id text,
  recipient_name text,
  recipient_card_mask text,
  recipient_card_digest text,
  recipient_account text,
  recipient_bik text,
  recipient_inn text,
  reason text,
  batch_id uuid,
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
  constraint payout_draft_amount check (amount >= 1 and amount <= 9007199254740991),
  constraint payout_draft_method check (
    method in ('payouts_sbp', 'payouts_card', 'payouts_account')
  ),
  constraint payout_draft_status check (status in ('pending', 'approved', 'rejected', 'expired')),
  constraint payout_draft_decided check ((status = 'pending') = (decided_at is null)),
  constraint payout_draft_two check (status <> 'approved' or decided_by <> created_by)
);
create index payout_draft_registry on payout_draft (merchant_id, shop_id, mode, created_at, id);
create index payout_draft_filter on payout_draft (merchant_id, shop_id, mode, status, created_at, id);
create index payout_draft_newest on payout_draft (mode, created_at, id);
create index payout_draft_pending on payout_draft (merchant_id, mode) where status = 'pending';
create index payout_draft_batch on payout_draft (merchant_id, batch_id, created_at, id)
  where batch_id is not null;
create index payout_draft_ends on payout_draft (expires_at) where status = 'pending';

-- A participant of SBP as an acquirer named it last. Banks that no acquirer named come from the
-- list of the program.
create table sbp_bank (
  member_id text not null,
  name text not null,
  name_en text not null,
  connector text not null,
  refreshed_at timestamptz(3) not null,
  primary key (member_id),
  constraint sbp_bank_member check (member_id ~ '^[0-9]{12}$')
);
