/** The subscriptions that a customer's page shows. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261127004600_customer_sessions_index extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      `create index concurrently if not exists subscription_of_customer
        on subscription (merchant_id, mode, customer_ref) where status <> 'cancelled'`,
    );
  }
}
