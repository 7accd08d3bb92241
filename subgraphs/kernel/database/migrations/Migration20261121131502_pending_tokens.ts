/** Tokens that wait for their binding: a sweep looks at the oldest of them. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261121131502_pending_tokens extends Migration {
  override up(): void {
    this.addSql(`create index token_pending on token (created_at) where status = 'pending'`);
  }
}
