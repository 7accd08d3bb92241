/**
 * Claims count what a lane has in flight by a function: each of its calls sees what was committed
 * until then, and not only until the claim began, which waits for the lane's lock.
 */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261122222000_webhooks_in_flight extends Migration {
  override up(): void {
    this.addSql(`create or replace function webhooks_in_flight(asked text) returns bigint language plpgsql volatile as $$
      begin
        return (select count(*) from webhook_delivery where lane = asked and lease_until > clock_timestamp());
      end $$`);
  }
}
