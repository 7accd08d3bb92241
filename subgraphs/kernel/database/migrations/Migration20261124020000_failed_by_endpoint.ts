/**
 * Failed webhook deliveries by shop and address, to count them. The partitions get their indexes in
 * the migration behind this one.
 */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261124020000_failed_by_endpoint extends Migration {
  override up(): void {
    this.addSql(
      `create index webhook_delivery_by_lane on only webhook_delivery (merchant_id, shop_id, lane, created_at) where status = 'failed'`,
    );
  }
}
