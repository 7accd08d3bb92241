/** The payments of a link by their time: how many of the last hour are unpaid is counted. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261126212000_link_payments extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      'create index concurrently if not exists link_payment_of_link on link_payment (merchant_id, link_id, payment_id)',
    );
  }
}
