/**
 * Reconciliation with acquirers: runs, the lines of their registries, and the differences that were
 * found.
 */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261121131303_reconciliation extends Migration {
  override up(): void {
    this.addSql(`create table reconciliation_run (
      id uuid not null,
      connector text not null,
      mode text not null,
      reference text not null,
      since timestamptz(3) not null,
      until timestamptz(3) not null,
      status text not null,
      lines int not null,
      matched int not null,
      differences int not null,
      created_at timestamptz(3) not null,
      created_by text not null,
      matched_at timestamptz(3),
      primary key (id),
      constraint reconciliation_run_status check (status = any (array['open', 'ready', 'matched'])),
      constraint reconciliation_run_span check (since < until))`);
    this.addSql(
      'alter table reconciliation_run add constraint reconciliation_run_once unique (connector, mode, reference)',
    );
    this.addSql('create index reconciliation_run_list on reconciliation_run (created_at, id)');
    this.addSql(
      `create index reconciliation_run_ready on reconciliation_run (created_at) where status = 'ready'`,
    );
    this.addSql(
      'create table reconciliation_part (run_id uuid not null, part int not null, digest text not null, primary key (run_id, part))',
    );
    this.addSql(`create table reconciliation_line (
      run_id uuid not null,
      part int not null,
      line int not null,
      reference text not null,
      operation_id uuid,
      kind text not null,
      amount bigint not null,
      currency text not null,
      status text not null,
      at timestamptz(3) not null,
      fee bigint,
      matched_id uuid,
      primary key (run_id, part, line))`);
    this.addSql(
      'create index reconciliation_line_matched on reconciliation_line (matched_id) where matched_id is not null',
    );
    this.addSql(`create table reconciliation_difference (
      merchant_id uuid not null,
      id uuid not null,
      run_id uuid not null,
      kind text not null,
      operation text not null,
      operation_id uuid,
      reference text,
      detail text not null,
      found_at timestamptz(3) not null,
      resolved_at timestamptz(3),
      resolved_by text,
      note text,
      primary key (merchant_id, id),
      constraint reconciliation_difference_kind check (kind = any (array['amount_differs', 'currency_differs', 'status_differs', 'missing_here',
        'missing_at_bank', 'duplicate'])),
      constraint reconciliation_difference_resolved check ((resolved_at is null) = (resolved_by is null) and (resolved_at is null) = (note is null)))`);
    this.addSql(
      'create index reconciliation_difference_list on reconciliation_difference (found_at, id)',
    );
    this.addSql(
      'create index reconciliation_difference_run on reconciliation_difference (run_id, found_at, id)',
    );
    this.addSql(
      'create index reconciliation_difference_operation on reconciliation_difference (operation_id, kind)',
    );
  }
}
