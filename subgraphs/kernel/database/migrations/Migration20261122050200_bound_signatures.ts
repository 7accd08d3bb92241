/** Whether a shop takes signatures of whole requests alone; null is no. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261122050200_bound_signatures extends Migration {
  override up(): void {
    this.addSql('alter table shop add column require_bound_signature boolean');
  }
}
