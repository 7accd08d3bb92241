/** Alerts: what a person at the operator must look at. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261121131301_alerts extends Migration {
  override up(): void {
    this.addSql(`create table alert (
      merchant_id uuid not null,
      id uuid not null,
      kind text not null,
      shop_id uuid,
      mode text,
      subject_id text not null,
      detail text not null,
      raised_at timestamptz(3) not null,
      told_at timestamptz(3),
      resolved_at timestamptz(3),
      resolved_by text,
      note text,
      primary key (merchant_id, id),
      constraint alert_kind check (kind = any (array['late_success', 'books_differ', 'reconciliation_difference', 'event_without_delivery',
        'bank_answer_contradicts', 'bank_echo_differs'])),
      constraint alert_resolved check ((resolved_at is null) = (resolved_by is null) and (resolved_at is null) = (note is null)))`);
    this.addSql(
      'alter table alert add constraint alert_once unique (merchant_id, kind, subject_id)',
    );
    this.addSql('create index alert_list on alert (raised_at, id)');
    this.addSql(
      'create index alert_unresolved on alert (kind, raised_at) where resolved_at is null',
    );
    this.addSql('create index alert_untold on alert (raised_at) where told_at is null');
  }
}
