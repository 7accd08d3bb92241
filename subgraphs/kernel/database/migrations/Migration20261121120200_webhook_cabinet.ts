/**
 * What the cabinet needs of webhooks: the secret before the last rotation, the schedule begun anew
 * by a resend, and the lists of deliveries and merchants.
 */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261121120200_webhook_cabinet extends Migration {
  override up(): void {
    this.addSql(
      `alter table webhook_endpoint add column previous_secret_sealed text, add column previous_until timestamptz(3)`,
    );
    this.addSql(
      `alter table shop add column previous_webhook_secret_sealed text, add column previous_webhook_until timestamptz(3)`,
    );
    this.addSql(`alter table webhook_delivery add column attempts_before int not null default 0`);
    this.addSql(
      `create index webhook_delivery_list on webhook_delivery (merchant_id, created_at, id)`,
    );
    this.addSql(
      `create index webhook_delivery_failed on webhook_delivery (merchant_id, created_at, id) where status = 'failed'`,
    );
    this.addSql(`create index merchant_list on merchant (created_at, id)`);
  }
}
