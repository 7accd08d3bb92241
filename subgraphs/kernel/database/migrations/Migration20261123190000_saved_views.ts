/** Views of lists that people keep, and who looks after an alert. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261123190000_saved_views extends Migration {
  override up(): void {
    this.addSql(`create table saved_view (
      merchant_id uuid not null,
      id uuid not null,
      subject text not null,
      section text not null,
      name text not null,
      search text not null,
      saved_at timestamptz(3) not null,
      primary key (merchant_id, id))`);
    this.addSql(
      'alter table saved_view add constraint saved_view_once unique (merchant_id, subject, section, name)',
    );
    this.addSql('alter table alert add column assignee text');
  }
}
