/**
 * Subscriptions that charge: where each stands on its schedule, and its charges, at most one open
 * or succeeded for a period (decision D-65).
 */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261121131600_subscription_charges extends Migration {
  override up(): void {
    // No subscription could be created before: the table has no rows that would lack these values.
    this.addSql(`alter table subscription
      add column version int not null,
      add column customer_email text,
      add column customer_phone text,
      add column anchor_at timestamptz(3),
      add column periods int not null,
      add column failures int not null,
      add column due_at timestamptz(3),
      add column paused_at timestamptz(3),
      add column cancelled_at timestamptz(3),
      add column cancel_reason text,
      alter column token_id set not null`);
    // A charge rewrites the row: room on the page keeps the new version beside the old one.
    this.addSql(`alter table subscription set (fillfactor = 80)`);
    this.addSql(`create index subscription_due on subscription (due_at) where due_at is not null`);
    this.addSql(
      `alter table subscription add constraint subscription_status check (status = any (array['pending'::text, 'active'::text, 'past_due'::text, 'paused'::text, 'cancelled'::text]))`,
    );
    this.addSql(
      `alter table subscription add constraint subscription_due_status check (due_at is null or anchor_at is not null and status = any (array['active'::text, 'past_due'::text]))`,
    );
    this.addSql(
      `alter table subscription add constraint subscription_counts check (periods >= 0 and failures >= 0 and failures <= 2)`,
    );
    this.addSql(`create table subscription_charge (
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
      primary key (merchant_id, subscription_id, period, attempt))`);
    this.addSql(
      `create unique index subscription_charge_once on subscription_charge (merchant_id, subscription_id, period) where status = any (array['open'::text, 'succeeded'::text])`,
    );
    this.addSql(
      `create index subscription_charge_payment on subscription_charge (merchant_id, payment_id) where payment_id is not null`,
    );
    this.addSql(
      `create index subscription_charge_ask on subscription_charge (ask_at) where ask_at is not null`,
    );
    this.addSql(
      `alter table subscription_charge add constraint subscription_charge_amount check (amount >= 1 and amount <= 9007199254740991)`,
    );
    this.addSql(
      `alter table subscription_charge add constraint subscription_charge_status check (status = any (array['open'::text, 'succeeded'::text, 'failed'::text, 'cancelled'::text]))`,
    );
    this.addSql(
      `alter table subscription_charge add constraint subscription_charge_settled check ((status = 'open'::text) = (settled_at is null))`,
    );
  }
}
