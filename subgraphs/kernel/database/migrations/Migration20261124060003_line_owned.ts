/** Lines of a settlement report by the merchant whose operations they are. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261124060003_line_owned extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      'create index concurrently if not exists reconciliation_line_owned on reconciliation_line (run_id, owner_id, part, line)',
    );
  }
}
