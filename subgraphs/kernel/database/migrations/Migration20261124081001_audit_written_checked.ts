/** Every audit entry has its month, before the one from which on the log has partitions. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261124081001_audit_written_checked extends Migration {
  override up(): void {
    this.addSql('alter table audit_entry validate constraint audit_entry_written_at_present');
    this.addSql('alter table audit_entry validate constraint audit_entry_within');
  }
}
