/** Subscriptions of a status in their order. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261127010004_references_subscription_status extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      'create index concurrently if not exists subscription_filter on subscription (merchant_id, mode, status, created_at, id)',
    );
  }
}
