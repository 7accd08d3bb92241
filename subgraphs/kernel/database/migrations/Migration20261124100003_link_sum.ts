/** What the sum of a link's payments has beyond a bigint. Decision A-322. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261124100003_link_sum extends Migration {
  override up(): void {
    this.addSql('alter table payment_link add column amount_paid_over bigint');
  }
}
