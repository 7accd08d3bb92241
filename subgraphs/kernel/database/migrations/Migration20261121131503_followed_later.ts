/** Events whose effects failed: set aside, so that those behind them are not held back. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261121131503_followed_later extends Migration {
  override up(): void {
    this.addSql(`create table followed_later (
      merchant_id uuid not null,
      follower text not null,
      sequence bigint not null,
      subject_id uuid not null,
      tries int not null,
      due_at timestamptz(3) not null,
      primary key (merchant_id, follower, sequence))`);
    this.addSql('create index followed_later_due on followed_later (follower, due_at)');
  }
}
