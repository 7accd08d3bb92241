/**
 * Filtered registries: an index range for each value of a filter, so that a rare status is found as
 * fast as a common one.
 */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261121131200_registry_filters extends Migration {
  override up(): void {
    this.addSql(
      'create index payment_filter on payment (merchant_id, shop_id, mode, status, created_at, id)',
    );
    this.addSql(
      'create index refund_filter on refund (merchant_id, shop_id, mode, status, created_at, id)',
    );
    this.addSql(
      'create index payout_filter on payout (merchant_id, shop_id, mode, status, method, created_at, id)',
    );
    this.addSql(
      'create index posting_filter on posting (merchant_id, shop_id, mode, type, created_at, id)',
    );
  }
}
