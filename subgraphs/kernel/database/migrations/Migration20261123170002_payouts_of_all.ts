/** Payouts of all merchants, newest first. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261123170002_payouts_of_all extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      `create index concurrently if not exists payout_newest on payout (mode, created_at, id)`,
    );
  }
}
