/** What two-step payments must never be, checked for the payments that there are. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261123130100_hold_checks extends Migration {
  override up(): void {
    for (const name of ['capture', 'captured', 'hold', 'authorized', 'status'])
      this.addSql(`alter table payment validate constraint payment_${name}`);
  }
}
