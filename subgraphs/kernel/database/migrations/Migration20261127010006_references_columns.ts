/** References of the merchant's own at what had none. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261127010006_references_columns extends Migration {
  override up(): void {
    this.addSql('alter table payout add column order_id text, add column metadata json');
    this.addSql('alter table refund add column metadata json');
    this.addSql('alter table token add column metadata json');
    this.addSql('alter table subscription add column metadata json, add column return_url text');
  }
}
