/** Whether a shop has a cash register, so that nothing is sold without a receipt; null is no. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261123173000_receipts_required extends Migration {
  override up(): void {
    this.addSql('alter table shop add column receipts_required boolean');
  }
}
