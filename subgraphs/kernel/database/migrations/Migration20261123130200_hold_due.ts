/** Holds whose time is over. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261123130200_hold_due extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      `create index concurrently if not exists payment_hold_due on payment (capture_before) where status = 'authorized' and hold_order is null`,
    );
  }
}
