/** Keys that live longer than a secret key, sealed (`kernel/database/kept-keys`). */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261122061500_kept_keys extends Migration {
  override up(): void {
    this.addSql(`create table kept_key (
      purpose text not null,
      generation text not null,
      sealed text not null,
      primary key (purpose, generation))`);
  }
}
