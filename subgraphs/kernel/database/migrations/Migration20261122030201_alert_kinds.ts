/** The kinds of alerts, checked for those that there are. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261122030201_alert_kinds extends Migration {
  override up(): void {
    this.addSql('alter table alert validate constraint alert_kind');
  }
}
