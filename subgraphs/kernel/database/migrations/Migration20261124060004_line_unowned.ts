/** Lines of a settlement report whose operation was not found, or not yet. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261124060004_line_unowned extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      'create index concurrently if not exists reconciliation_line_unowned on reconciliation_line (run_id, kind, part, line) where owner_id is null',
    );
  }
}
