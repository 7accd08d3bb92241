/**
 * The audit log becomes partitioned by the month in which its entries are written. The table of
 * before is the first partition as it stands: no row is moved or read. Each partition refuses by
 * itself to be changed, as the log does.
 */
import { Migration } from '@mikro-orm/migrations';

const bound = `select to_char((regexp_match(pg_get_constraintdef(oid), '''([^'']+)'''))[1]::timestamptz at time zone 'UTC', 'YYYY-MM-DD') as month
  from pg_constraint where conname = 'audit_entry_within' and conrelid = 'audit_entry'::regclass`;

export class Migration20261124081003_audit_by_month extends Migration {
  override async up(): Promise<void> {
    const [row] = await this.execute(bound);
    const month: unknown = row?.['month'];
    if (typeof month !== 'string') throw new Error('audit_entry_within is not there');
    this.addSql('alter table audit_entry alter column written_at set not null');
    this.addSql(
      'alter table audit_entry drop constraint audit_entry_pkey, add constraint audit_entry_pkey primary key using index audit_entry_written',
    );
    this.addSql('alter table audit_entry rename to audit_entry_before');
    this.addSql('alter table audit_entry_before set schema partitions');
    this.addSql(
      'create table audit_entry (like partitions.audit_entry_before including defaults) partition by range (written_at)',
    );
    this.addSql(
      'alter table audit_entry add constraint audit_entry_pkey primary key (merchant_id, id, written_at)',
    );
    this.addSql('create index audit_entry_merchant on audit_entry (merchant_id, at, id)');
    this.addSql('create index audit_entry_at on audit_entry (at, id)');
    this.addSql('create index audit_entry_request on audit_entry (request_id)');
    this.addSql('create index audit_entry_subject on audit_entry (merchant_id, subject_id, at)');
    this.addSql(
      `alter table audit_entry attach partition partitions.audit_entry_before for values from (minvalue) to ('${month}')`,
    );
    // An entry never fails for want of a partition.
    this.addSql('create table partitions.audit_entry_default partition of audit_entry default');
    for (const table of ['audit_entry', 'partitions.audit_entry_default']) {
      this.addSql(
        `create trigger append_only before update or delete on ${table} for each statement execute function audit_entry_append_only_fn()`,
      );
      this.addSql(
        `create trigger append_only_whole before truncate on ${table} for each statement execute function audit_entry_append_only_fn()`,
      );
    }
  }
}
