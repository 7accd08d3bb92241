/** Orders that went out to a bank that has no idempotency key for them: each goes out once. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261121152500_bank_orders extends Migration {
  override up(): void {
    this.addSql(`create table bank_order (
      merchant_id uuid not null,
      subject_id uuid not null,
      operation_id uuid not null,
      sent_at timestamptz(3) not null,
      primary key (merchant_id, subject_id, operation_id))`);
  }
}
