-- Saved payment methods, and subscriptions that charge them.

-- A payment method that a customer saved and that the merchant may charge.
create table token (
  merchant_id uuid not null,
  id uuid not null,
  shop_id uuid not null,
  mode text not null,
  customer_ref text not null,
  method text not null,
  status text not null,
  card_brand text,
  card_mask text,
  card_holder text,
  last_charged_at timestamptz(3),
  created_at timestamptz(3) not null,
  binding_payment_id uuid,
  saved_reference text,
  customer_email text,
  metadata json,
  primary key (merchant_id, id),
  constraint token_status check (status in ('pending', 'active', 'cancelled')),
  constraint token_active check (status <> 'active' or saved_reference is not null)
);
create index token_customer on token (merchant_id, mode, customer_ref, created_at);
create index token_pending on token (created_at) where status = 'pending';
create index token_list on token (merchant_id, mode, created_at, id);
create index token_filter on token (merchant_id, mode, status, created_at, id);

-- A subscription: an amount that is charged by a saved method in each period.
create table subscription (
  merchant_id uuid not null,
  id uuid not null,
  shop_id uuid not null,
  mode text not null,
  customer_ref text not null,
  plan_name text,
  amount bigint not null,
  currency text not null,
  method text not null,
  period text not null,
  interval_count int not null,
  trial_days int not null,
  status text not null,
  token_id uuid not null,
  next_charge_at timestamptz(3),
  last_charge_at timestamptz(3),
  created_at timestamptz(3) not null,
  version int not null,
  customer_email text,
  customer_phone text,
  anchor_at timestamptz(3),
  periods int not null,
  failures int not null,
  due_at timestamptz(3),
  paused_at timestamptz(3),
  cancelled_at timestamptz(3),
  cancel_reason text,
  receipt_terms_id uuid,
  metadata json,
  return_url text,
  primary key (merchant_id, id),
  constraint subscription_amount check (amount >= 1 and amount <= 9007199254740991),
  constraint subscription_status check (
    status in ('pending', 'active', 'past_due', 'paused', 'cancelled')
  ),
  constraint subscription_due_status check (
    due_at is null or (anchor_at is not null and status in ('active', 'past_due'))
  ),
  constraint subscription_counts check (periods >= 0 and failures >= 0 and failures <= 2)
) with (fillfactor = 80);
create index subscription_list on subscription (merchant_id, mode, created_at, id);
create index subscription_customer on subscription (merchant_id, mode, customer_ref, created_at, id);
create index subscription_filter on subscription (merchant_id, mode, status, created_at, id);
create index subscription_due on subscription (due_at) where due_at is not null;
create index subscription_due_of_merchant on subscription (merchant_id, due_at)
  where due_at is not null;
create index subscription_newest on subscription (mode, created_at, id);

-- A charge of a subscription for one period, with its payment and its retries.
create table subscription_charge (
  merchant_id uuid not null,
  subscription_id uuid not null,
  period int not null,
  attempt int not null,
  shop_id uuid not null,
  mode text not null,
  kind text not null,
  amount bigint not null,
  currency text not null,
  status text not null,
  payment_id uuid,
  failure_code text,
  ask_at timestamptz(3),
  created_at timestamptz(3) not null,
  settled_at timestamptz(3),
  primary key (merchant_id, subscription_id, period, attempt),
  constraint subscription_charge_amount check (amount >= 1 and amount <= 9007199254740991),
  constraint subscription_charge_status check (
    status in ('open', 'succeeded', 'failed', 'cancelled')
  ),
  constraint subscription_charge_settled check ((status = 'open') = (settled_at is null))
);
create unique index subscription_charge_once on subscription_charge (merchant_id, subscription_id, period)
  where status in ('open', 'succeeded');
create index subscription_charge_payment on subscription_charge (merchant_id, payment_id)
  where payment_id is not null;
create index subscription_charge_ask on subscription_charge (ask_at) where ask_at is not null;
