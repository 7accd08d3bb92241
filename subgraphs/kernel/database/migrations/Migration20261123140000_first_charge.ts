/** Test mode: a saved method that refuses its first charge, so that its retry can be tried. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261123140000_first_charge extends Migration {
  override up(): void {
    this.addSql('alter table simulator_operation add column first_charge uuid');
  }
}
