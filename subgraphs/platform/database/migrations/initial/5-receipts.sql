-- Receipts of 54-FZ.

-- What a receipt is made of, by the subject that it was given with: a payment, a refund, a closing
-- receipt, the order of a capture, or a link or subscription that makes payments later.
create table receipt_terms (
  merchant_id uuid not null,
  subject_id uuid not null,
  shop_id uuid not null,
  mode text not null,
  payment_id uuid,
  tax_system int,
  items json not null,
  customer_sealed text,
  customer_shown json,
  created_at timestamptz(3) not null,
  primary key (merchant_id, subject_id)
);
create index receipt_terms_payment on receipt_terms (merchant_id, payment_id)
  where payment_id is not null;

-- A receipt that a cash register made or has to make.
create table receipt (
  merchant_id uuid not null,
  id uuid not null,
  version int not null,
  shop_id uuid not null,
  mode text not null,
  payment_id uuid not null,
  refund_id uuid,
  type text not null,
  status text not null,
  amount bigint not null,
  currency text not null,
  terms_id uuid not null,
  tax_system int,
  items json not null,
  customer_shown json,
  fiscal_storage_number text,
  fiscal_document_number text,
  fiscal_attribute text,
  registered_at timestamptz(3),
  failure_reason text,
  attempt int not null,
  ask_at timestamptz(3),
  created_at timestamptz(3) not null,
  primary key (merchant_id, id),
  constraint receipt_amount check (amount >= 0 and amount <= 9007199254740991),
  constraint receipt_type check (type in ('payment', 'refund', 'closing')),
  constraint receipt_refund check ((type = 'refund') = (refund_id is not null)),
  constraint receipt_status check (status in ('pending', 'registered', 'failed')),
  constraint receipt_registered check (
    ((status = 'registered') = (registered_at is not null))
    and ((status = 'failed') = (failure_reason is not null))
  ),
  constraint receipt_ask check (ask_at is null or status = 'pending')
);
create index receipt_registry on receipt (merchant_id, shop_id, mode, created_at, id);
create index receipt_filter on receipt (merchant_id, shop_id, mode, status, created_at, id);
create index receipt_payment on receipt (merchant_id, payment_id, created_at, id);
create index receipt_email on receipt (merchant_id, (customer_shown ->> 'email'), created_at)
  where customer_shown ->> 'email' is not null;
create index receipt_phone on receipt (merchant_id, (customer_shown ->> 'phone'), created_at)
  where customer_shown ->> 'phone' is not null;
create index receipt_ask_due on receipt (ask_at) where ask_at is not null;
create index receipt_due_of_merchant on receipt (merchant_id, ask_at) where ask_at is not null;
create unique index receipt_of_payment on receipt (merchant_id, payment_id, type)
  where refund_id is null;
create unique index receipt_of_refund on receipt (merchant_id, refund_id)
  where refund_id is not null;
create index receipt_newest on receipt (mode, status, created_at, id);
