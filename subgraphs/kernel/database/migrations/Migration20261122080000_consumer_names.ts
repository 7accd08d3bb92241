/**
 * Consumers of the event log: their tables get the names that the program uses. A view under each
 * old name serves the version that still runs. PostgreSQL writes through such a view, and takes the
 * row locks of the table, so that both versions consume each event once between them. The release
 * after this one drops the views.
 */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261122080000_consumer_names extends Migration {
  override up(): void {
    this.addSql('alter table follower_position rename to consumer_offset');
    this.addSql('alter table consumer_offset rename column follower to consumer');
    this.addSql(
      'alter table consumer_offset rename constraint follower_position_pkey to consumer_offset_pkey',
    );
    this.addSql(
      'create view follower_position as select consumer as follower, sequence from consumer_offset',
    );

    this.addSql('alter table followed_later rename to consumer_retry');
    this.addSql('alter table consumer_retry rename column follower to consumer');
    this.addSql(
      'alter table consumer_retry rename constraint followed_later_pkey to consumer_retry_pkey',
    );
    this.addSql('alter index followed_later_due rename to consumer_retry_due');
    this.addSql(`create view followed_later as select merchant_id, consumer as follower, sequence,
      subject_id, tries, due_at from consumer_retry`);
  }
}
