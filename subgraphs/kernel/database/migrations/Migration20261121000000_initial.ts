/**
 * The first schema. Keys start with the merchant, so that a merchant's rows can share a shard;
 * nothing but small look-up tables is unique over all merchants.
 */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261121000000_initial extends Migration {
  override up(): void {
    this.addSql(`create table api_key (
      digest text not null,
      id uuid not null,
      merchant_id uuid not null,
      shop_id uuid not null,
      mode text not null,
      prefix text not null,
      scopes text[] not null,
      created_at timestamptz(3) not null,
      revoked_at timestamptz(3),
      primary key (digest))`);
    this.addSql(`create index api_key_shop on api_key (merchant_id, shop_id)`);
    this.addSql(`create table balance (
      merchant_id uuid not null,
      shop_id uuid not null,
      mode text not null,
      currency text not null,
      account text not null,
      amount bigint not null,
      primary key (merchant_id, shop_id, mode, currency, account))`);
    this.addSql(`create table balance_delta (
      merchant_id uuid not null,
      id uuid not null,
      shop_id uuid not null,
      mode text not null,
      currency text not null,
      account text not null,
      amount bigint not null,
      primary key (merchant_id, id))`);
    this.addSql(`create table event (
      merchant_id uuid not null,
      id uuid not null,
      position bigserial not null,
      sequence bigint,
      shop_id uuid not null,
      mode text not null,
      subject_id uuid not null,
      stream_kind text,
      payload jsonb,
      webhook_event text,
      webhook_body text,
      webhook_url text,
      created_at timestamptz(3) not null,
      primary key (merchant_id, id))`);
    this.addSql(`create index event_outbox on event (position) where sequence is null`);
    this.addSql(`create index event_sequence on event (sequence)`);
    this.addSql(`create table idempotency_key (
      merchant_id uuid not null,
      mode text not null,
      key text not null,
      fingerprint text not null,
      shop_id uuid not null,
      resource_id uuid not null,
      created_at timestamptz(3) not null,
      primary key (merchant_id, mode, key))`);
    this.addSql(`create index idempotency_key_age on idempotency_key (created_at)`);
    this.addSql(`create table merchant (
      id uuid not null,
      name text not null,
      live_enabled boolean not null,
      created_at timestamptz(3) not null,
      primary key (id))`);
    this.addSql(`create table payment (
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
      primary key (merchant_id, id))`);
    this.addSql(
      `create index payment_registry on payment (merchant_id, shop_id, mode, created_at, id)`,
    );
    this.addSql(`create index payment_link_due on payment (expires_at) where status = 'pending'`);
    this.addSql(
      `create index payment_session_due on payment (processing_until) where status = 'processing'`,
    );
    this.addSql(`create index payment_ask_due on payment (ask_at) where ask_at is not null`);
    this.addSql(
      `alter table payment add constraint payment_amount check (amount >= 1 and amount <= 9007199254740991)`,
    );
    this.addSql(
      `alter table payment add constraint payment_refunded check (amount_refunded >= 0 and amount_refunded <= amount)`,
    );
    this.addSql(
      `alter table payment add constraint payment_fee check (fee is null or fee >= 0 and fee <= amount)`,
    );
    this.addSql(
      `alter table payment add constraint payment_processing check (status <> 'processing'::text or processing_until is not null)`,
    );
    this.addSql(
      `alter table payment add constraint payment_status check (status = any (array['pending'::text, 'processing'::text, 'succeeded'::text, 'failed'::text, 'expired'::text, 'cancelled'::text, 'refunded'::text]))`,
    );
    this.addSql(`create table payout (
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
      primary key (merchant_id, id))`);
    this.addSql(
      `create index payout_registry on payout (merchant_id, shop_id, mode, created_at, id)`,
    );
    this.addSql(
      `alter table payout add constraint payout_amount check (amount >= 1 and amount <= 9007199254740991)`,
    );
    this.addSql(`create table posting (
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
      primary key (merchant_id, id))`);
    this.addSql(
      `create index posting_ledger on posting (merchant_id, shop_id, mode, created_at, id)`,
    );
    this.addSql(
      `alter table posting add constraint posting_source unique (merchant_id, source_kind, source_id, type)`,
    );
    this.addSql(
      `alter table posting add constraint posting_amount check (amount >= 1 and amount <= 9007199254740991)`,
    );
    this.addSql(
      `alter table posting add constraint posting_accounts check (from_account <> to_account)`,
    );
    this.addSql(`create table rate (
      id uuid not null,
      merchant_id uuid,
      shop_id uuid,
      method text not null,
      rate_bps int not null,
      since timestamptz(3) not null,
      primary key (id))`);
    this.addSql(`create index rate_level on rate (merchant_id, shop_id, method, since)`);
    this.addSql(
      `alter table rate add constraint rate_range check (rate_bps >= 0 and rate_bps <= 10000)`,
    );
    this.addSql(`create table refund (
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
      primary key (merchant_id, id))`);
    this.addSql(
      `create index refund_registry on refund (merchant_id, shop_id, mode, created_at, id)`,
    );
    this.addSql(`create index refund_payment on refund (merchant_id, payment_id, created_at, id)`);
    this.addSql(
      `alter table refund add constraint refund_amount check (amount >= 1 and amount <= 9007199254740991)`,
    );
    this.addSql(`create table shop (
      merchant_id uuid not null,
      id uuid not null,
      name text not null,
      terminal_id uuid not null,
      terminal_name text not null,
      webhook_secret_sealed text not null,
      created_at timestamptz(3) not null,
      primary key (merchant_id, id))`);
    this.addSql(`create table simulator_operation (
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
      primary key (merchant_id, operation_id))`);
    this.addSql(`create table subscription (
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
      token_id uuid,
      next_charge_at timestamptz(3),
      last_charge_at timestamptz(3),
      created_at timestamptz(3) not null,
      primary key (merchant_id, id))`);
    this.addSql(
      `create index subscription_list on subscription (merchant_id, mode, created_at, id)`,
    );
    this.addSql(
      `alter table subscription add constraint subscription_amount check (amount >= 1 and amount <= 9007199254740991)`,
    );
    this.addSql(`create table token (
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
      primary key (merchant_id, id))`);
    this.addSql(
      `create index token_customer on token (merchant_id, mode, customer_ref, created_at)`,
    );
    this.addSql(`create table webhook_attempt (
      merchant_id uuid not null,
      delivery_id uuid not null,
      number int not null,
      at timestamptz(3) not null,
      duration_ms int not null,
      status int,
      error text,
      response_head text,
      primary key (merchant_id, delivery_id, number))`);
    this.addSql(`create table webhook_delivery (
      merchant_id uuid not null,
      id uuid not null,
      event_id uuid not null,
      webhook_event text not null,
      shop_id uuid not null,
      subject_id uuid not null,
      endpoint_id uuid,
      lane text not null,
      url text not null,
      status text not null,
      attempts int not null,
      next_attempt_at timestamptz(3),
      lease_until timestamptz(3),
      delivered_at timestamptz(3),
      created_at timestamptz(3) not null,
      primary key (merchant_id, id))`);
    this.addSql(
      `create index webhook_delivery_due on webhook_delivery (lane, next_attempt_at) where status = 'pending'`,
    );
    this.addSql(
      `create index webhook_delivery_leased on webhook_delivery (lane) where lease_until is not null`,
    );
    this.addSql(
      `create index webhook_delivery_subject on webhook_delivery (merchant_id, subject_id, created_at)`,
    );
    this.addSql(
      `alter table webhook_delivery add constraint webhook_delivery_once unique (merchant_id, event_id, lane)`,
    );
    this.addSql(`create table webhook_endpoint (
      merchant_id uuid not null,
      id uuid not null,
      shop_id uuid not null,
      url text not null,
      events text[] not null,
      secret_sealed text not null,
      signature text not null,
      active boolean not null,
      created_at timestamptz(3) not null,
      primary key (merchant_id, id))`);
    this.addSql(
      `create index webhook_endpoint_shop on webhook_endpoint (merchant_id, shop_id, created_at)`,
    );

    this.addSql('create sequence payment_public_id start 100001');
    this.addSql('create sequence event_sequence_seq');

    // Small, hot tables: vacuumed by count, not by share.
    this.addSql(
      'alter table balance_delta set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0)',
    );
    this.addSql(
      'alter table event set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000)',
    );

    // Platform rates in basis points until an operator sets others.
    this.addSql(`insert into rate (id, method, rate_bps, since) select gen_random_uuid(), method, rate_bps, 'epoch'
      from (values ('sbp', 70), ('cards', 280), ('tpay', 250), ('sberpay', 250), ('recurrent', 280)) as platform (method, rate_bps)`);
  }
}
