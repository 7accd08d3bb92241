/** Receipts of what makes payments: links, and the periods of subscriptions. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261123180000_kept_terms extends Migration {
  override up(): void {
    this.addSql('alter table payment_link add column receipt json');
    this.addSql('alter table subscription add column receipt_terms_id uuid');
  }
}
