/** The kinds of alerts, checked for those that there are. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261123172001_receipt_alert extends Migration {
  override up(): void {
    this.addSql('alter table alert validate constraint alert_kind');
  }
}
