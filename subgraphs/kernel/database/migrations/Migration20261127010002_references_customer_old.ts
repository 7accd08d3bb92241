/** Drops the index that `payment_of_customer` stands for. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261127010002_references_customer_old extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql('drop index concurrently if exists payment_customer');
  }
}
