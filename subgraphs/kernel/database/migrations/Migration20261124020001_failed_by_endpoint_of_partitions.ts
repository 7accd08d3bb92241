/**
 * The index of failed deliveries by address in every partition that there is; those made from now
 * on have it. Begun again, it goes on with the partitions that lack it.
 */
import { Migration } from '@mikro-orm/migrations';

const partitionsWithout = `select child.oid::regclass::text as partition, child.relname || '_by_lane' as index
  from pg_inherits join pg_class as child on child.oid = pg_inherits.inhrelid
  where pg_inherits.inhparent = 'webhook_delivery'::regclass and not exists (
    select from pg_inherits as attached join pg_index on pg_index.indexrelid = attached.inhrelid
    where attached.inhparent = 'webhook_delivery_by_lane'::regclass and pg_index.indrelid = child.oid)`;

export class Migration20261124020001_failed_by_endpoint_of_partitions extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override async up(): Promise<void> {
    const partitions = await this.execute(partitionsWithout);
    for (const { partition, index } of partitions) {
      // What an attempt that was cut short has left is not valid.
      this.addSql(`drop index concurrently if exists partitions.${index}`);
      this.addSql(
        `create index concurrently ${index} on ${partition} (merchant_id, shop_id, lane, created_at) where status = 'failed'`,
      );
      this.addSql(`alter index webhook_delivery_by_lane attach partition partitions.${index}`);
    }
  }
}
