/** Refunds at the bank: its reference, when it is asked next, and what a refund must never be. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261121120700_refunds extends Migration {
  override up(): void {
    this.addSql('alter table refund add column bank_ref text, add column ask_at timestamptz(3)');
    this.addSql('create index refund_ask_due on refund (ask_at) where ask_at is not null');
    this.addSql(
      `alter table refund add constraint refund_final check ((status = 'pending'::text) = (completed_at is null))`,
    );
    this.addSql(
      `alter table refund add constraint refund_failed check ((status = 'failed'::text) = (fail_reason is not null))`,
    );
    this.addSql(
      `alter table refund add constraint refund_status check (status = any (array['pending'::text, 'succeeded'::text, 'failed'::text]))`,
    );
  }
}
