/** What the page of a payment does after a decline: null, it leads back; `stay`. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261127004500_customer_sessions extends Migration {
  override up(): void {
    this.addSql(`alter table payment add column on_decline text,
      add constraint payment_on_decline check (on_decline = 'stay') not valid`);
  }
}
