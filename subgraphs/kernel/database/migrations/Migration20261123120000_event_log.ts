/**
 * The event log of a shop in its order. The index of the partitioned table alone holds nothing: its
 * partitions get theirs in the migration behind this one, while everybody writes.
 */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261123120000_event_log extends Migration {
  override up(): void {
    this.addSql(
      'create index event_log on only event (merchant_id, shop_id, mode, sequence) include (created_at, webhook_event, subject_id) where webhook_event is not null',
    );
  }
}
