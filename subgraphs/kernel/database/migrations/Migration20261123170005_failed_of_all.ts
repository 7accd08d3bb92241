/**
 * Failed webhook deliveries of all merchants. The partitions get their indexes in the migration
 * behind this one.
 */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261123170005_failed_of_all extends Migration {
  override up(): void {
    this.addSql(
      `create index webhook_delivery_newest on only webhook_delivery (created_at, id) where status = 'failed'`,
    );
  }
}
