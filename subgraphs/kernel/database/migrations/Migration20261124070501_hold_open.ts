/** Orders about holds whose bank's word is not known, for `money_unsettled`. Decision A-308. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261124070501_hold_open extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      'create index concurrently if not exists payment_hold_open on payment (hold_order) where hold_order is not null',
    );
  }
}
