/** How far a settlement report's matching has come, whose its lines are, and what was looked at. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261124060000_match_progress extends Migration {
  override up(): void {
    this.addSql(`alter table reconciliation_run add column progress jsonb,
      add column looked_since timestamptz(3), add column looked_until timestamptz(3)`);
    this.addSql('alter table reconciliation_line add column owner_id uuid');
  }
}
