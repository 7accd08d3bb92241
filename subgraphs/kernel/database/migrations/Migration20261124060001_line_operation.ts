/** Lines of a settlement report by the operation that they name. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261124060001_line_operation extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      'create index concurrently if not exists reconciliation_line_operation on reconciliation_line (run_id, operation_id, part, line) where operation_id is not null',
    );
  }
}
