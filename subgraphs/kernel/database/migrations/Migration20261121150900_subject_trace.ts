/** The trace in which a payment, refund or payout was made: written only while traces are kept. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261121150900_subject_trace extends Migration {
  override up(): void {
    this.addSql(`create table subject_trace (
      merchant_id uuid not null,
      subject_id uuid not null,
      traceparent text not null,
      created_at timestamptz(3) not null,
      primary key (merchant_id, subject_id))`);
    this.addSql('create index subject_trace_age on subject_trace (created_at)');
  }
}
