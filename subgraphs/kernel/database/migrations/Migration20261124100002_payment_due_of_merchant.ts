/** Payments that a bank is to be asked about, by merchant: merchants share a full page. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261124100002_payment_due_of_merchant extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      'create index concurrently if not exists payment_due_of_merchant on payment (merchant_id, ask_at) where ask_at is not null',
    );
  }
}
