/** Subscriptions of all merchants, newest first. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261123170003_subscriptions_of_all extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      `create index concurrently if not exists subscription_newest on subscription (mode, created_at, id)`,
    );
  }
}
