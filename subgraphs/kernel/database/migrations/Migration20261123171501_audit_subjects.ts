/** The audit log by what was changed. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261123171501_audit_subjects extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      'create index concurrently if not exists audit_entry_subject on audit_entry (merchant_id, subject_id, at)',
    );
  }
}
