/** Test clocks: a shop's own time in test mode. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261121131800_test_clocks extends Migration {
  override up(): void {
    this.addSql(`create table test_clock (
      merchant_id uuid not null,
      shop_id uuid not null,
      clock_at timestamptz(3) not null,
      set_at timestamptz(3) not null,
      frozen boolean not null,
      target_at timestamptz(3),
      created_at timestamptz(3) not null,
      primary key (merchant_id, shop_id))`);
  }
}
