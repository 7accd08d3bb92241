/** Refunds of all merchants, newest first. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261123170001_refunds_of_all extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      `create index concurrently if not exists refund_newest on refund (mode, created_at, id)`,
    );
  }
}
