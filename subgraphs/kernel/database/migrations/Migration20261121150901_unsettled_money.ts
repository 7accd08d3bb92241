/** Refunds and payouts that are not final: the metrics ask about them again and again. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261121150901_unsettled_money extends Migration {
  override up(): void {
    this.addSql(`create index refund_pending on refund (created_at) where status = 'pending'`);
    this.addSql(`create index payout_pending on payout (created_at) where status = 'pending'`);
  }
}
