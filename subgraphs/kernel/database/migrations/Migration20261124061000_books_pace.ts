/** How fast the walks over the books go, and what of huge merchants is walked beside them. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261124061000_books_pace extends Migration {
  override up(): void {
    this.addSql(`alter table books_walk add column rows bigint, add column pass_rows bigint,
      add column merchant_ranges int, add column pass_s int`);
    this.addSql(`create table books_aside (
      name text not null,
      at_merchant_id uuid not null,
      at_id uuid not null,
      due_at timestamptz(3) not null,
      pass_began_at timestamptz(3) not null,
      primary key (name, at_merchant_id))`);
  }
}
