-- Merchants, their shops and keys, and the people who look after them.
-- The files of this folder are the first schema, in their order. Keys start with the merchant, so
-- that the rows of one merchant share a shard: only small look-up tables have keys over all
-- merchants.

-- Holds the partitions of the tables that are partitioned by month. The program makes them
-- (`database/partitions.ts`); the default partition of each takes a row that comes without its
-- month.
create schema partitions;

-- A merchant. Buyers see its legal name, its contacts, its site and its offer. Limits that are null
-- are the defaults.
create table merchant (
  id uuid not null,
  name text not null,
  legal_name text,
  inn text,
  contact_email text,
  contact_phone text,
  site_url text,
  offer_url text,
  live_enabled boolean not null,
  created_at timestamptz(3) not null,
  rate_per_second int,
  rate_burst int,
  support_refund_max bigint not null default 0,
  primary key (id),
  constraint merchant_rate_limit check (
    ((rate_per_second is null) = (rate_burst is null))
    and rate_per_second > 0
    and rate_burst > 0
  ),
  constraint merchant_support_refund check (
    support_refund_max >= 0 and support_refund_max <= 9007199254740991
  )
);
create index merchant_list on merchant (created_at, id);

-- A shop, which is also a terminal. Other tables copy its names at the moment they need them.
create table shop (
  merchant_id uuid not null,
  id uuid not null,
  name text not null,
  terminal_id uuid not null,
  terminal_name text not null,
  webhook_secret_sealed text not null,
  created_at timestamptz(3) not null,
  previous_webhook_secret_sealed text,
  previous_webhook_until timestamptz(3),
  require_signature boolean not null default false,
  signing_secret_sealed text,
  allow_list text[] not null default '{}',
  require_bound_signature boolean not null default false,
  receipts_required boolean not null default false,
  primary key (merchant_id, id),
  constraint shop_signature_needs_secret check (
    (not require_signature) or signing_secret_sealed is not null
  )
);

-- An API key of a shop in one mode. It is found by the SHA-256 of the whole key before its merchant
-- is known, so its key is unique over all merchants. A key that can pay out and that a person of
-- the merchant asked for works once another person has approved it. A key that replaces another one
-- ends that one `overlap_h` hours after it works itself.
create table api_key (
  digest text not null,
  id uuid not null,
  merchant_id uuid not null,
  shop_id uuid not null,
  mode text not null,
  prefix text not null,
  scopes text[] not null,
  name text not null default '',
  owner text,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3),
  replaces_id uuid,
  overlap_h int,
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  requested_by text,
  approved_by text,
  approved_at timestamptz(3),
  primary key (digest),
  constraint api_key_two check (approved_by <> requested_by)
);
create index api_key_shop on api_key (merchant_id, shop_id);

-- The own time of a shop in test mode: what the clock showed at the real moment `set_at`. Live mode
-- never reads it.
create table test_clock (
  merchant_id uuid not null,
  shop_id uuid not null,
  clock_at timestamptz(3) not null,
  set_at timestamptz(3) not null,
  frozen boolean not null,
  target_at timestamptz(3),
  created_at timestamptz(3) not null,
  primary key (merchant_id, shop_id)
);

-- The trace in which a payment, refund or payout was made. Written only while traces are kept.
create table subject_trace (
  merchant_id uuid not null,
  subject_id uuid not null,
  traceparent text not null,
  created_at timestamptz(3) not null,
  primary key (merchant_id, subject_id)
);
create index subject_trace_age on subject_trace (created_at);

-- An idempotency key of a merchant in one mode, with the fingerprint and the result of its first
-- use. Until `asking_until` the call that claimed it asks for its answer.
create table idempotency_key (
  merchant_id uuid not null,
  mode text not null,
  key text not null,
  fingerprint text not null,
  shop_id uuid not null,
  resource_id uuid not null,
  created_at timestamptz(3) not null,
  request text not null,
  asking_until timestamptz(3),
  primary key (merchant_id, mode, key)
);
create index idempotency_key_age on idempotency_key (created_at);

-- A login to the console, found by the digest of its cookie.
create table console_session (
  digest text not null,
  id uuid not null,
  subject text not null,
  role text not null,
  merchant_id uuid,
  created_at timestamptz(3) not null,
  seen_at timestamptz(3) not null,
  ends_at timestamptz(3) not null,
  ended_at timestamptz(3),
  primary key (digest)
);
create index console_session_ends on console_session (ends_at);

-- A one-time link that lets a person into the console. An administrator's invitation has an id and
-- who invited; it can be withdrawn.
create table console_link (
  digest text not null,
  id uuid,
  invited_by text,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  subject text,
  role text,
  merchant_id uuid,
  primary key (digest)
);

-- A view of a list that a person keeps in the console. The zero merchant stands for the staff of
-- the platform.
create table saved_view (
  merchant_id uuid not null,
  id uuid not null,
  subject text not null,
  section text not null,
  name text not null,
  search text not null,
  saved_at timestamptz(3) not null,
  primary key (merchant_id, id),
  constraint saved_view_once unique (merchant_id, subject, section, name)
);
