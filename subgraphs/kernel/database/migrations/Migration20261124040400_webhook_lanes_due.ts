/**
 * The lanes that have a delivery which is due by a moment of the real time and nobody's. It steps
 * from lane to lane along the index: a lane with a million rows that are due costs as much as one
 * with a single row. A function, since a query that walks so is none that Citus runs over shards.
 */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261124040400_webhook_lanes_due extends Migration {
  override up(): void {
    this.addSql(`create or replace function webhook_lanes_due(moment timestamptz, most int) returns setof text language plpgsql volatile as $$
      declare
        last text := '';
        found_lanes int := 0;
      begin
        loop
          select webhook_delivery.lane into last from webhook_delivery
            where webhook_delivery.status = 'pending' and webhook_delivery.lane > last order by webhook_delivery.lane limit 1;
          exit when not found;
          if exists (
            select 1 from webhook_delivery as delivery
            where delivery.lane = last and delivery.status = 'pending' and delivery.next_attempt_at <= moment
              and (delivery.lease_until is null or delivery.lease_until <= clock_timestamp())
              and coalesce((select max(set_aside.due_at) <= now() from set_aside where set_aside.merchant_id = delivery.merchant_id
                and set_aside.task = 'deliver-webhooks' and set_aside.subject_id in (delivery.id::text, '*')), true)
              and not case
                when exists (select 1 from test_clock where test_clock.merchant_id = delivery.merchant_id and test_clock.shop_id = delivery.shop_id)
                then exists (select 1 from event where event.merchant_id = delivery.merchant_id and event.id = delivery.event_id and event.mode = 'test')
                else false end)
          then
            return next last;
            found_lanes := found_lanes + 1;
            exit when found_lanes = most;
          end if;
        end loop;
      end $$`);
  }
}
