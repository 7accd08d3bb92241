/**
 * Totals by the hour. Events are counted from here on; what was made before is counted by a walk in
 * the background.
 */
import { Migration } from '@mikro-orm/migrations';

const statuses = [
  'pending',
  'processing',
  'authorized',
  'succeeded',
  'failed',
  'expired',
  'cancelled',
  'refunded',
];
const columns = ['count', 'amount'].flatMap((of) =>
  statuses.map((status) => `${of}_${status} bigint not null`),
);

export class Migration20261123190000_totals extends Migration {
  override up(): void {
    this.addSql(`create table hourly_total (
      merchant_id uuid not null,
      shop_id uuid not null,
      mode text not null,
      currency text not null,
      kind text not null,
      hour timestamptz(3) not null,
      method text not null,
      bank text not null,
      failure_code text not null,
      ${columns.join(', ')},
      moved bigint not null,
      fee bigint not null,
      primary key (merchant_id, shop_id, mode, currency, kind, hour, method, bank, failure_code))
      with (fillfactor = 80)`);
    this.addSql(`create table counted_fact (
      merchant_id uuid not null,
      shop_id uuid not null,
      kind text not null,
      id uuid not null,
      mode text not null,
      currency text not null,
      hour timestamptz(3) not null,
      method text not null,
      bank text not null,
      failure_code text not null,
      status text not null,
      amount bigint not null,
      moved bigint not null,
      fee bigint not null,
      primary key (merchant_id, shop_id, kind, id))
      with (fillfactor = 80)`);
    this.addSql(`create table totals_walk (
      name text not null,
      at_merchant_id uuid not null,
      at_id uuid not null,
      primary key (name))`);
    const nobody = '00000000-0000-0000-0000-000000000000';
    this.addSql(`insert into totals_walk (name, at_merchant_id, at_id)
      values ('payment', '${nobody}', '${nobody}'), ('payout', '${nobody}', '${nobody}')`);
    this.addSql(`insert into consumer_offset (consumer, sequence)
      values ('totals', coalesce(pg_sequence_last_value('event_sequence_seq'), 0))`);
  }
}
