-- Acquirers: routes and accounts, calls to them, and the simulated bank.

-- Which connector serves an operation of a shop by a method. Of several the lowest priority wins
-- that this installation has.
create table bank_route (
  merchant_id uuid not null,
  id uuid not null,
  shop_id uuid not null,
  mode text not null,
  operation text not null,
  method text not null,
  connector text not null,
  priority int not null,
  active boolean not null,
  created_at timestamptz(3) not null,
  primary key (merchant_id, id),
  constraint bank_route_once unique (merchant_id, shop_id, mode, operation, method, connector)
);

-- An account of a merchant at an acquirer. At most one of a purpose is active; the others are asked
-- about what they have.
create table bank_account (
  merchant_id uuid not null,
  connector text not null,
  purpose text not null,
  account text not null,
  secret_sealed text not null,
  active boolean not null,
  created_at timestamptz(3) not null,
  changed_at timestamptz(3) not null,
  primary key (merchant_id, connector, purpose, account),
  constraint bank_account_purpose check (purpose in ('payments', 'payouts'))
);
create unique index bank_account_active on bank_account (merchant_id, connector, purpose)
  where active;

-- An order that went out to a bank that has no idempotency key for it, so that it goes out once.
create table bank_order (
  merchant_id uuid not null,
  subject_id uuid not null,
  operation_id uuid not null,
  sent_at timestamptz(3) not null,
  primary key (merchant_id, subject_id, operation_id)
);

-- A call to a bank about an operation: what was asked and what was answered. It never has a card, a
-- recipient or a secret.
create table bank_call (
  merchant_id uuid not null,
  subject_id uuid not null,
  id uuid not null,
  connector text not null,
  call text not null,
  amount bigint,
  currency text,
  answer text not null,
  reference text,
  failure_code text,
  bank_code text,
  duration_ms int not null,
  created_at timestamptz(3) not null,
  primary key (merchant_id, subject_id, id, created_at)
) partition by range (created_at);
create table partitions.bank_call_default partition of bank_call default
  with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
create index bank_call_default_age on partitions.bank_call_default (created_at);

-- How the calls of one process to a bank went in the five minutes from `at` on, in real time.
-- `failures` are those without an answer, `durations_ms` has the last 100 answers, oldest first;
-- `method` is empty where a call does not name it. The breaker is null where the bank has none.
-- Rows are kept for two days.
create table bank_health (
  at timestamptz(3) not null,
  connector text not null,
  mode text not null,
  operation text not null,
  method text not null,
  process text not null,
  calls int not null,
  failures int not null,
  durations_ms int[] not null,
  breaker text,
  breaker_since timestamptz(3),
  flushed_at timestamptz(3) not null,
  primary key (at, connector, mode, operation, method, process)
) with (fillfactor = 80);

-- An operation as the simulated bank has it. Our id of the operation is the key under which a
-- repeated call finds the first one.
create table simulator_operation (
  merchant_id uuid not null,
  operation_id uuid not null,
  reference text not null,
  outcome text not null,
  failure_code text,
  answer_at timestamptz(3),
  card_brand text,
  card_mask text,
  card_holder text,
  created_at timestamptz(3) not null,
  silent_until timestamptz(3),
  holds boolean,
  first_charge uuid,
  primary key (merchant_id, operation_id)
);
create index simulator_operation_age on simulator_operation (created_at);

-- What the simulated bank was ordered to do with a hold, and whether it did.
create table simulator_hold_order (
  merchant_id uuid not null,
  operation_id uuid not null,
  payment_id uuid not null,
  kind text not null,
  amount bigint not null,
  failure_code text,
  answer_at timestamptz(3),
  created_at timestamptz(3) not null,
  primary key (merchant_id, operation_id),
  constraint simulator_hold_order_kind check (kind in ('capture', 'release'))
);
create unique index simulator_hold_settled on simulator_hold_order (merchant_id, payment_id)
  where failure_code is null;
create index simulator_hold_order_age on simulator_hold_order (created_at);

-- A callback that the simulated bank will send about a payment.
create table simulator_callback (
  merchant_id uuid not null,
  operation_id uuid not null,
  number int not null,
  shop_id uuid not null,
  mode text not null,
  kind text not null,
  due_at timestamptz(3) not null,
  primary key (merchant_id, operation_id, number),
  constraint simulator_callback_kind check (kind in ('decision', 'opposite', 'pending'))
);
create index simulator_callback_due on simulator_callback (due_at);
