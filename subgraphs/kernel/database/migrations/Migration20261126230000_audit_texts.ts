/**
 * What people wrote of what they did, beside the entries of the audit log, which nobody can change:
 * an erasure finds it here.
 */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261126230000_audit_texts extends Migration {
  override up(): void {
    this.addSql(`create table audit_text (
      merchant_id uuid not null,
      entry_id uuid not null,
      subject_id text not null,
      texts json not null,
      primary key (merchant_id, entry_id))`);
    this.addSql('create index audit_text_subject on audit_text (merchant_id, subject_id)');
  }
}
