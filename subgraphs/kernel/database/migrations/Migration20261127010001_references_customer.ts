/** A customer's payments in their order: the filter of the registry. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261127010001_references_customer extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      'create index concurrently if not exists payment_of_customer on payment (merchant_id, customer_id, created_at, id) where customer_id is not null',
    );
  }
}
