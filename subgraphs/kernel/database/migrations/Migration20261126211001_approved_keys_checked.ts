/** The check of who approved a key holds for the keys before it, too. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261126211001_approved_keys_checked extends Migration {
  override up(): void {
    this.addSql('alter table api_key validate constraint api_key_two');
  }
}
