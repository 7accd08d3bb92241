/** Lines of a settlement report that have the bank's reference alone. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261124060002_line_reference extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      'create index concurrently if not exists reconciliation_line_reference on reconciliation_line (run_id, reference, part, line) where operation_id is null',
    );
  }
}
