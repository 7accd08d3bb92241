-- What operators work with: reconciliation, alerts, the audit log, policies, and sealed keys.

-- A registry of an acquirer that is matched with our operations. It is of the platform: one
-- registry has operations of many merchants.
create table reconciliation_run (
  id uuid not null,
  connector text not null,
  mode text not null,
  reference text not null,
  since timestamptz(3) not null,
  until timestamptz(3) not null,
  status text not null,
  lines int not null,
  matched int not null,
  differences int not null,
  created_at timestamptz(3) not null,
  created_by text not null,
  matched_at timestamptz(3),
  progress jsonb,
  looked_since timestamptz(3),
  looked_until timestamptz(3),
  primary key (id),
  constraint reconciliation_run_once unique (connector, mode, reference),
  constraint reconciliation_run_status check (status in ('open', 'ready', 'matched')),
  constraint reconciliation_run_span check (since < until)
);
create index reconciliation_run_list on reconciliation_run (created_at, id);
create index reconciliation_run_ready on reconciliation_run (created_at) where status = 'ready';

-- A part of a registry that was stored, by the digest of its text.
create table reconciliation_part (
  run_id uuid not null,
  part int not null,
  digest text not null,
  primary key (run_id, part)
);

-- A line of a registry, and the operation that it was found to be about.
create table reconciliation_line (
  run_id uuid not null,
  part int not null,
  line int not null,
  reference text not null,
  operation_id uuid,
  kind text not null,
  amount bigint not null,
  currency text not null,
  status text not null,
  at timestamptz(3) not null,
  fee bigint,
  matched_id uuid,
  owner_id uuid,
  primary key (run_id, part, line)
);
create index reconciliation_line_matched on reconciliation_line (matched_id)
  where matched_id is not null;
create index reconciliation_line_operation on reconciliation_line (run_id, operation_id, part, line)
  where operation_id is not null;
create index reconciliation_line_reference on reconciliation_line (run_id, reference, part, line)
  where operation_id is null;
create index reconciliation_line_owned on reconciliation_line (run_id, owner_id, part, line);
create index reconciliation_line_unowned on reconciliation_line (run_id, kind, part, line)
  where owner_id is null;

-- A difference between a registry and our operations. It is of the merchant of the operation, and
-- of the zero merchant when there is no operation.
create table reconciliation_difference (
  merchant_id uuid not null,
  id uuid not null,
  run_id uuid not null,
  mode text not null,
  kind text not null,
  operation text not null,
  operation_id uuid,
  reference text,
  at_bank jsonb,
  here jsonb,
  detail text not null,
  found_at timestamptz(3) not null,
  resolved_at timestamptz(3),
  resolved_by text,
  note text,
  primary key (merchant_id, id),
  constraint reconciliation_difference_kind check (
    kind in (
      'amount_differs', 'currency_differs', 'status_differs', 'missing_here', 'missing_at_bank',
      'duplicate'
    )
  ),
  constraint reconciliation_difference_resolved check (
    ((resolved_at is null) = (resolved_by is null))
    and ((resolved_at is null) = (note is null))
  )
);
create index reconciliation_difference_list on reconciliation_difference (found_at, id);
create index reconciliation_difference_run on reconciliation_difference (run_id, found_at, id);
create index reconciliation_difference_operation on reconciliation_difference (operation_id, kind);

-- An alert. The zero merchant stands for the platform.
create table alert (
  merchant_id uuid not null,
  id uuid not null,
  kind text not null,
  shop_id uuid,
  mode text,
  subject_id text not null,
  detail text not null,
  fields jsonb not null default '{}',
  raised_at timestamptz(3) not null,
  told_at timestamptz(3),
  posted_at timestamptz(3),
  mailed_at timestamptz(3),
  resolved_at timestamptz(3),
  resolved_by text,
  note text,
  assignee text,
  primary key (merchant_id, id),
  constraint alert_once unique (merchant_id, kind, subject_id),
  constraint alert_resolved check (
    ((resolved_at is null) = (resolved_by is null))
    and ((resolved_at is null) = (note is null))
  ),
  constraint alert_kind check (
    kind in (
      'late_success', 'link_exhausted', 'books_differ', 'reconciliation_difference',
      'event_without_delivery', 'bank_answer_contradicts', 'bank_echo_differs',
      'balance_at_bound', 'dead_letter', 'receipt_failed', 'bank_degraded', 'success_falls',
      'endpoint_fails', 'payout_stuck', 'key_expires'
    )
  )
);
create index alert_list on alert (raised_at, id);
create index alert_unresolved on alert (kind, raised_at) where resolved_at is null;
create index alert_untold on alert (raised_at) where told_at is null;
create index alert_unposted on alert (raised_at) where posted_at is null;
create index alert_unmailed on alert (raised_at) where mailed_at is null;

-- An action in the cabinet or by an operator. The zero merchant stands for the platform. `at` may
-- be the time of a test clock; `written_at`, which chooses the partition, is the real one.
create table audit_entry (
  merchant_id uuid not null,
  id uuid not null,
  at timestamptz(3) not null,
  actor text not null,
  role text not null,
  action text not null,
  subject_kind text not null,
  subject_id text not null,
  before jsonb,
  after jsonb,
  request_id text not null,
  written_at timestamptz(3) not null default now(),
  primary key (merchant_id, id, written_at)
) partition by range (written_at);
create index audit_entry_merchant on audit_entry (merchant_id, at, id);
create index audit_entry_at on audit_entry (at, id);
create index audit_entry_request on audit_entry (request_id);
create index audit_entry_subject on audit_entry (merchant_id, subject_id, at);
create table partitions.audit_entry_default partition of audit_entry default;

-- Nothing changes or removes an entry: triggers refuse it to everybody, in each partition by
-- itself.
create function audit_entry_append_only_fn() returns trigger language plpgsql as $$
begin
  raise exception 'audit entries are append-only';
end
$$;
create trigger append_only before update or delete on audit_entry
  for each statement execute function audit_entry_append_only_fn();
create trigger append_only_whole before truncate on audit_entry
  for each statement execute function audit_entry_append_only_fn();
create trigger append_only before update or delete on partitions.audit_entry_default
  for each statement execute function audit_entry_append_only_fn();
create trigger append_only_whole before truncate on partitions.audit_entry_default
  for each statement execute function audit_entry_append_only_fn();

-- What people wrote of an action, beside its audit entry: the entry stays for ever, and a text may
-- have to go.
create table audit_text (
  merchant_id uuid not null,
  entry_id uuid not null,
  subject_id text not null,
  texts json not null,
  primary key (merchant_id, entry_id)
);
create index audit_text_subject on audit_text (merchant_id, subject_id);

-- Grows with every change of a policy, in the transaction of the change. The lock of its one row
-- lets one change through at a time.
create table policy_version (
  name text not null,
  version bigint not null,
  primary key (name)
);
insert into policy_version (name, version) values ('policies', 1);

-- Something that is refused, for all merchants (no merchant) or for one. `value` is
-- a keyed fingerprint of a card or an account, and the value itself of others.
create table block_entry (
  id uuid not null,
  merchant_id uuid,
  kind text not null,
  value text not null,
  shown text not null,
  reason text not null,
  created_at timestamptz(3) not null,
  primary key (id)
);

-- A word that no description may have. `*` at its end stands for any ending.
create table forbidden_word (
  id uuid not null,
  word text not null,
  reason text not null,
  created_at timestamptz(3) not null,
  primary key (id),
  constraint forbidden_word_once unique (word)
);

-- What one unit of a currency is worth in USDT from a moment on.
create table exchange_rate (
  id uuid not null,
  currency text not null,
  usdt numeric(21,12) not null,
  since timestamptz(3) not null,
  primary key (id),
  constraint exchange_rate_moment unique (currency, since)
);

-- A key that lives longer than a secret key, sealed by the key of the vault that `generation`
-- names.
create table kept_key (
  purpose text not null,
  generation text not null,
  sealed text not null,
  primary key (purpose, generation)
);

-- A request of a key that was refused, that failed, or that created something; bodies are masked.
-- The caller may name several requests with one id. Partitioned by the day, so that a day is dropped
-- and not deleted row by row.
create table api_request (
  merchant_id uuid not null,
  id uuid not null,
  shop_id uuid not null,
  mode text not null,
  request_id text not null,
  method text not null,
  path text not null,
  status int not null,
  code text,
  key_prefix text not null,
  idempotency_key text,
  duration_ms int not null,
  request_body text,
  response_body text,
  created_at timestamptz(3) not null,
  primary key (merchant_id, id, created_at)
) partition by range (created_at);
create index api_request_list on api_request (merchant_id, shop_id, mode, created_at, id);
create index api_request_id on api_request (merchant_id, request_id, created_at);
create table partitions.api_request_default partition of api_request default
  with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
