/** Which key made a payment, and when its page was opened. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261124030200_payment_makers extends Migration {
  override up(): void {
    this.addSql('alter table payment add column made_by_key uuid');
    this.addSql(`create table page_opening (
      merchant_id uuid not null,
      payment_id uuid not null,
      created_at timestamptz(3) not null,
      constraint page_opening_pkey primary key (merchant_id, payment_id, created_at)) partition by range (created_at)`);
    this.addSql(`create table partitions.page_opening_default partition of page_opening default
      with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000)`);
    this.addSql(
      'create index page_opening_default_age on partitions.page_opening_default (created_at)',
    );
  }
}
