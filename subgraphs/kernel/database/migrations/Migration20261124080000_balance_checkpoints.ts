/** From which sums a balance is proved, and how far the next ones are counted. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261124080000_balance_checkpoints extends Migration {
  override up(): void {
    this.addSql(`create table balance_proof (
      merchant_id uuid primary key,
      generation int not null,
      up_to uuid,
      proved_at timestamptz(3),
      counted_to uuid,
      counts_up_to uuid)`);
    this.addSql(`create table balance_checkpoint (
      merchant_id uuid not null,
      generation int not null,
      shop_id uuid not null,
      mode text not null,
      currency text not null,
      account text not null,
      amount bigint not null,
      primary key (merchant_id, generation, shop_id, mode, currency, account))`);
  }
}
