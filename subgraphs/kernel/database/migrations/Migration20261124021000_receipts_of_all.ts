/** Receipts of all merchants by status, newest first. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261124021000_receipts_of_all extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      `create index concurrently if not exists receipt_newest on receipt (mode, status, created_at, id)`,
    );
  }
}
