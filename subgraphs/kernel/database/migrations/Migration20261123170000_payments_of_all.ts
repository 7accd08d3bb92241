/** Payments of all merchants, newest first. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261123170000_payments_of_all extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      `create index concurrently if not exists payment_newest on payment (mode, created_at, id)`,
    );
  }
}
