/** Movements of all merchants that are of no payment: those are many, and follow from payments. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261123170004_movements_of_all extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      `create index concurrently if not exists posting_newest on posting (mode, created_at, id) where type = any (array['refund', 'payout', 'payout_fee', 'settlement', 'adjustment'])`,
    );
  }
}
