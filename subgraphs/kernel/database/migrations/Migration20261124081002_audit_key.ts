/** The key that the audit log has when it is partitioned. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261124081002_audit_key extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      'create unique index concurrently if not exists audit_entry_written on audit_entry (merchant_id, id, written_at)',
    );
  }
}
