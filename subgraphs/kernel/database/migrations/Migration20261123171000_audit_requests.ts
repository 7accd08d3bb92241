/** Entries of the audit log by the call that made them. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261123171000_audit_requests extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      'create index concurrently if not exists audit_entry_request on audit_entry (request_id)',
    );
  }
}
