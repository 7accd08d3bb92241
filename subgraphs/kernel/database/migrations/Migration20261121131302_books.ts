/** Where the walks over the books stand. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261121131302_books extends Migration {
  override up(): void {
    this.addSql(`create table books_walk (
      name text not null,
      at_merchant_id uuid not null,
      at_id uuid not null,
      due_at timestamptz(3) not null,
      pass_began_at timestamptz(3),
      checked_at timestamptz(3),
      primary key (name))`);
    this.addSql(`insert into books_walk (name, at_merchant_id, at_id, due_at)
      select name, '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000', '2026-01-01T00:00:00Z'
      from unnest(array['payment', 'refund', 'payout', 'posting', 'event', 'shop']) as name`);
  }
}
