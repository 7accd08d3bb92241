/** The payouts of an order in their order: the filter of the registry. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261127010007_references_payout_order extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      'create index concurrently if not exists payout_order on payout (merchant_id, order_id, created_at, id) where order_id is not null',
    );
  }
}
