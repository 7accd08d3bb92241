/** What is due of each merchant: in a rush, the merchants share what is charged at once. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261123090000_subscription_due_of_merchant extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      'create index concurrently if not exists subscription_due_of_merchant on subscription (merchant_id, due_at) where due_at is not null',
    );
  }
}
