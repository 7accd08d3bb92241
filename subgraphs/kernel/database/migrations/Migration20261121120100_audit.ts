/** The audit log. Nothing changes or removes an entry: a trigger refuses it to everybody. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261121120100_audit extends Migration {
  override up(): void {
    this.addSql(`create table audit_entry (
      merchant_id uuid not null,
      id uuid not null,
      at timestamptz(3) not null,
      actor text not null,
      role text not null,
      action text not null,
      subject_kind text not null,
      subject_id text not null,
      before jsonb,
      after jsonb,
      request_id text not null,
      primary key (merchant_id, id))`);
    this.addSql(`create index audit_entry_merchant on audit_entry (merchant_id, at, id)`);
    this.addSql(`create index audit_entry_at on audit_entry (at, id)`);
    this.addSql(`create function audit_entry_append_only_fn() returns trigger as $$
      begin raise exception 'audit entries are append-only'; end; $$ language plpgsql`);
    this.addSql(
      `create trigger append_only before update or delete on audit_entry for each statement execute function audit_entry_append_only_fn()`,
    );
    // The ORM does not see triggers on truncate.
    this.addSql(
      `create trigger append_only_whole before truncate on audit_entry for each statement execute function audit_entry_append_only_fn()`,
    );
  }
}
