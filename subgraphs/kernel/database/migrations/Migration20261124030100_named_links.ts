/** Links into the console that name the person whom they let in. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261124030100_named_links extends Migration {
  override up(): void {
    this.addSql(`alter table console_link
      add column subject text,
      add column role text,
      add column merchant_id uuid`);
  }
}
