/** When a payment's order was given to its bank last: an order may be given again (D-32). */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261122040000_ordered_at extends Migration {
  override up(): void {
    this.addSql('alter table payment add column ordered_at timestamptz(3)');
  }
}
