/** Payment links, and which payment was made through which; one more kind of alerts. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261123130000_payment_links extends Migration {
  override up(): void {
    this.addSql(`create table payment_link (
      merchant_id uuid not null,
      id uuid not null,
      shop_id uuid not null,
      mode text not null,
      url text not null,
      status text not null,
      amount bigint null,
      amount_min bigint null,
      amount_max bigint null,
      currency text not null,
      description text null,
      order_id text null,
      method text not null,
      capture text null,
      uses int null,
      uses_left int null,
      return_url text null,
      metadata json not null,
      payments_count int not null,
      amount_paid bigint not null,
      expires_at timestamptz(3) not null,
      created_at timestamptz(3) not null,
      finalized_at timestamptz(3) null,
      primary key (merchant_id, id),
      constraint payment_link_uses check (uses_left is null or uses_left >= 0),
      constraint payment_link_status check (status = any (array['active'::text, 'paid'::text, 'expired'::text, 'deactivated'::text])))`);
    this.addSql(
      'create index payment_link_registry on payment_link (merchant_id, shop_id, mode, created_at, id)',
    );
    this.addSql(
      'create index payment_link_filter on payment_link (merchant_id, shop_id, mode, status, created_at, id)',
    );
    this.addSql('create index payment_link_address on payment_link (id)');
    this.addSql(
      `create index payment_link_ends on payment_link (expires_at) where status = 'active'`,
    );
    this.addSql(`create table link_payment (
      merchant_id uuid not null,
      payment_id uuid not null,
      link_id uuid not null,
      primary key (merchant_id, payment_id))`);
    this.addSql('alter table alert drop constraint alert_kind');
    this.addSql(`alter table alert add constraint alert_kind check (kind = any (array['late_success', 'link_exhausted', 'books_differ', 'reconciliation_difference',
      'event_without_delivery', 'bank_answer_contradicts', 'bank_echo_differs', 'balance_at_bound', 'work_set_aside'])) not valid`);
  }
}
