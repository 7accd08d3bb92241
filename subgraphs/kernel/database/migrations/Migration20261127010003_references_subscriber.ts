/** A customer's subscriptions in their order. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261127010003_references_subscriber extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      'create index concurrently if not exists subscription_customer on subscription (merchant_id, mode, customer_ref, created_at, id)',
    );
  }
}
