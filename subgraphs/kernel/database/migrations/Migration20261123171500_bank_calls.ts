/** Calls to banks, kept as events are, and the audit log by what was changed. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261123171500_bank_calls extends Migration {
  override up(): void {
    this.addSql(`create table bank_call (
      merchant_id uuid not null,
      subject_id uuid not null,
      id uuid not null,
      connector text not null,
      call text not null,
      amount bigint null,
      currency text null,
      answer text not null,
      reference text null,
      failure_code text null,
      bank_code text null,
      duration_ms int not null,
      created_at timestamptz(3) not null,
      constraint bank_call_pkey primary key (merchant_id, subject_id, id, created_at)) partition by range (created_at)`);
    this.addSql(`create table partitions.bank_call_default partition of bank_call default
      with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000)`);
    this.addSql('create index bank_call_default_age on partitions.bank_call_default (created_at)');
  }
}
