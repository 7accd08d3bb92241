/**
 * How fast a merchant may call (decision D-08). Null is the default of the service, which may
 * change without touching any merchant.
 */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261121123000_merchant_rate_limit extends Migration {
  override up(): void {
    this.addSql(`alter table merchant add column rate_per_second int, add column rate_burst int`);
    this.addSql(
      `alter table merchant add constraint merchant_rate_limit check ((rate_per_second is null) = (rate_burst is null) and rate_per_second > 0 and rate_burst > 0)`,
    );
  }
}
