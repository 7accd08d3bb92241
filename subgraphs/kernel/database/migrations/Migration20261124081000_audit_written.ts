/**
 * When an audit entry was written, by the database's clock: its month is what the log becomes
 * partitioned by. `at` may be a test clock's, which stands anywhere. Entries of before have a
 * moment before all others, as a constant that no row is written for.
 */
import { Migration } from '@mikro-orm/migrations';

/** The first month of which no entry can be written before these migrations are over. */
const nextMonths = (): string =>
  Temporal.Now.plainDateISO('UTC').add({ days: 31 }).with({ day: 1 }).add({ months: 1 }).toString();

export class Migration20261124081000_audit_written extends Migration {
  override up(): void {
    this.addSql(
      `alter table audit_entry add column written_at timestamptz(3) default '2000-01-01T00:00:00Z'`,
    );
    this.addSql('alter table audit_entry alter column written_at set default now()');
    this.addSql(
      'alter table audit_entry add constraint audit_entry_written_at_present check (written_at is not null) not valid',
    );
    this.addSql(
      `alter table audit_entry add constraint audit_entry_within check (written_at < '${nextMonths()}T00:00:00Z') not valid`,
    );
  }
}
