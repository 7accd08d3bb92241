/** Tokens of a status in their order. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261127010005_references_token_status extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      'create index concurrently if not exists token_filter on token (merchant_id, mode, status, created_at, id)',
    );
  }
}
