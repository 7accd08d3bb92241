-- The books. A posting moves an amount from one account to another. A balance is its row and the
-- deltas that are not folded into it yet.

-- The rate of a method from a moment on, in basis points: of the platform (no merchant), of a
-- merchant (no shop) or of a shop. The most specific one wins.
create table rate (
  id uuid not null,
  merchant_id uuid,
  shop_id uuid,
  method text not null,
  rate_bps int not null,
  since timestamptz(3) not null,
  primary key (id),
  constraint rate_range check (rate_bps >= 0 and rate_bps <= 10000)
);
create index rate_level on rate (merchant_id, shop_id, method, since);

-- The rates of the platform until an operator sets others.
insert into rate (id, method, rate_bps, since)
select gen_random_uuid(), method, rate_bps, 'epoch'
from (values ('sbp', 70), ('cards', 280), ('tpay', 250), ('sberpay', 250), ('recurrent', 280)) as platform (method, rate_bps);

-- An amount that moved from one account to another. It is unique by what it was made for and its
-- type, so that a fact is booked once. Nothing changes it.
create table posting (
  merchant_id uuid not null,
  id uuid not null,
  shop_id uuid not null,
  mode text not null,
  currency text not null,
  type text not null,
  from_account text not null,
  to_account text not null,
  amount bigint not null,
  description text not null,
  source_kind text not null,
  source_id uuid not null,
  payment_id uuid,
  payout_id uuid,
  created_at timestamptz(3) not null,
  primary key (merchant_id, id),
  constraint posting_source unique (merchant_id, source_kind, source_id, type),
  constraint posting_amount check (amount >= 1 and amount <= 9007199254740991),
  constraint posting_accounts check (from_account <> to_account),
  constraint posting_known_accounts check (
    from_account in ('merchant', 'merchant_reserved', 'platform_fees', 'acquirer_clearing', 'payout_clearing', 'suspense')
    and to_account in ('merchant', 'merchant_reserved', 'platform_fees', 'acquirer_clearing', 'payout_clearing', 'suspense')
  )
);
create index posting_ledger on posting (merchant_id, shop_id, mode, created_at, id);
create index posting_filter on posting (merchant_id, shop_id, mode, type, created_at, id);
create index posting_newest on posting (mode, created_at, id)
  where type in ('refund', 'payout', 'payout_fee', 'settlement', 'adjustment');

-- The folded balance of an account of a shop. Refunds may take it below zero.
create table balance (
  merchant_id uuid not null,
  shop_id uuid not null,
  mode text not null,
  currency text not null,
  account text not null,
  amount bigint not null,
  primary key (merchant_id, shop_id, mode, currency, account)
);

-- What a balance gained and lost by postings of a type in an hour (UTC), so that a balance at a
-- moment and the turnover of a span are read without the postings. Whatever changes a balance row
-- changes its hours, behind it: the balance row is the lock of its hours. An hour of the largest
-- amounts is more than a bigint holds.
create table ledger_hour (
  merchant_id uuid not null,
  mode text not null,
  currency text not null,
  hour timestamptz(3) not null,
  shop_id uuid not null,
  account text not null,
  type text not null,
  amount numeric not null,
  primary key (merchant_id, mode, currency, hour, shop_id, account, type)
) with (fillfactor = 80);

-- A change of a balance that is not folded into its row yet: `moved` is what it consists of, by the
-- type of the postings, and `hour` the hour of the fact. The table is small and hot: it is vacuumed
-- by count, not by share.
create table balance_delta (
  merchant_id uuid not null,
  id uuid not null,
  shop_id uuid not null,
  mode text not null,
  currency text not null,
  account text not null,
  amount bigint not null,
  hour timestamptz(3) not null,
  moved jsonb not null,
  primary key (merchant_id, id)
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_cost_delay = 0
);

-- Keeps what a merchant owns in one mode and currency between -(2^53-1) and 2^53-1, in each shop
-- and over all of them. A booking that would pass a bound fails with the code PSB01, and its whole
-- statement with it. Small bookings share an advisory lock and read the folded balances alone. A
-- booking that is large, or that comes while the folded balances are large, waits for its turn,
-- sums all that is committed, and goes into the balance rows at once, where the next one sees it.
-- The function is volatile, so that each of its queries sees what was committed before it began,
-- and so before its lock was given.
create function balance_keep_bound() returns trigger language plpgsql as $$
declare
  bound constant numeric := 9007199254740991;
  nearly constant numeric := 4503599627370496;
  small constant bigint := 134217728;
  whose constant text := new.merchant_id || '/' || new.mode || '/' || new.currency;
begin
  if new.amount between -small and small then
    perform pg_advisory_xact_lock_shared(hashtextextended('balance/' || whose, 0));
    if (select coalesce(sum(abs(kept.amount)), 0) from balance as kept
        where kept.merchant_id = new.merchant_id and kept.mode = new.mode and kept.currency = new.currency) <= nearly then
      return null;
    end if;
    perform pg_advisory_xact_lock(hashtextextended('balance-nearly/' || whose, 0));
  else
    perform pg_advisory_xact_lock(hashtextextended('balance/' || whose, 0));
  end if;
  if exists (
    select from (
      select kept.shop_id, kept.account, kept.amount from balance as kept
      where kept.merchant_id = new.merchant_id and kept.mode = new.mode and kept.currency = new.currency
      union all
      select fresh.shop_id, fresh.account, fresh.amount from balance_delta as fresh
      where fresh.merchant_id = new.merchant_id and fresh.mode = new.mode and fresh.currency = new.currency
    ) as owned
    group by rollup (owned.shop_id)
    having (new.amount > 0 and sum(owned.amount) > bound)
      or (new.amount < 0 and coalesce(sum(owned.amount) filter (where owned.account = 'merchant'), 0) < -bound)
  ) then
    raise exception 'the balance of the merchant would pass its bound' using errcode = 'PSB01';
  end if;
  delete from balance_delta as own where own.merchant_id = new.merchant_id and own.id = new.id;
  insert into balance as kept (merchant_id, shop_id, mode, currency, account, amount)
    values (new.merchant_id, new.shop_id, new.mode, new.currency, new.account, new.amount)
    on conflict (merchant_id, shop_id, mode, currency, account) do update set amount = kept.amount + excluded.amount;
  insert into ledger_hour as kept (merchant_id, mode, currency, hour, shop_id, account, type, amount)
    select new.merchant_id, new.mode, new.currency, new.hour, new.shop_id, new.account, part.type, part.amount::numeric
    from jsonb_each_text(new.moved) as part (type, amount)
    on conflict (merchant_id, mode, currency, hour, shop_id, account, type) do update set amount = kept.amount + excluded.amount;
  return null;
end;
$$;
create trigger bound after insert on balance_delta
  for each row execute function balance_keep_bound();

-- When the books of a merchant were checked (everything older is), and how far the check under way
-- is: behind which row of which step, with the sums of the postings up to it. `due_at` is when it
-- continues; while a part is checked, when another process may take it over.
create table books_check (
  merchant_id uuid not null,
  checked_at timestamptz(3) not null,
  began_at timestamptz(3),
  due_at timestamptz(3) not null,
  step text not null default 'payment',
  at text not null default '00000000-0000-0000-0000-000000000000',
  sums jsonb not null default '[]',
  is_doubted boolean not null default false,
  primary key (merchant_id)
);
create index books_check_due on books_check (due_at);
create index books_check_oldest on books_check (checked_at);

-- An hour of a shop, of a merchant (its shop is the zero id) or of all merchants (so is its
-- merchant). An hour counts what was made in it, by its present status; `moved` is the money that
-- came or went, `fee` what was withheld for it. The kind `<kind>_failure` counts the failures of a
-- kind by their code and nothing else: `method` and `bank` are empty there, `failure_code` elsewhere.
create table hourly_total (
  merchant_id uuid not null,
  shop_id uuid not null,
  mode text not null,
  currency text not null,
  kind text not null,
  hour timestamptz(3) not null,
  method text not null,
  bank text not null,
  failure_code text not null,
  count_pending bigint not null,
  count_processing bigint not null,
  count_authorized bigint not null,
  count_succeeded bigint not null,
  count_failed bigint not null,
  count_expired bigint not null,
  count_cancelled bigint not null,
  count_refunded bigint not null,
  amount_pending numeric not null,
  amount_processing numeric not null,
  amount_authorized numeric not null,
  amount_succeeded numeric not null,
  amount_failed numeric not null,
  amount_expired numeric not null,
  amount_cancelled numeric not null,
  amount_refunded numeric not null,
  moved numeric not null,
  fee numeric not null,
  primary key (merchant_id, shop_id, mode, currency, kind, hour, method, bank, failure_code)
) with (fillfactor = 80);
create index hourly_total_lately on hourly_total (hour)
  where kind = 'payment' and mode = 'live' and shop_id = '00000000-0000-0000-0000-000000000000';

-- As what a payment, refund or payout is counted in the totals: what is taken off when it changes.
create table counted_fact (
  merchant_id uuid not null,
  shop_id uuid not null,
  kind text not null,
  id uuid not null,
  mode text not null,
  currency text not null,
  hour timestamptz(3) not null,
  method text not null,
  bank text not null,
  failure_code text not null,
  status text not null,
  amount bigint not null,
  moved bigint not null,
  fee bigint not null,
  primary key (merchant_id, hour, shop_id, kind, id)
) with (fillfactor = 80);

-- A table that is counted from its beginning in the totals: at first, and when an operator has all
-- counted anew. It has no row when that is done.
create table totals_walk (
  name text not null,
  at_merchant_id uuid not null,
  at_id uuid not null,
  primary key (name)
);
insert into totals_walk (name, at_merchant_id, at_id) values
  ('payment', '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000'),
  ('payout', '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000');
