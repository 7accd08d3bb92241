/** Pages of a merchant's tokens: `GET /v1/public/tokens` reads its answer in pages. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261122050100_token_list extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      'create index concurrently if not exists token_list on token (merchant_id, mode, created_at, id)',
    );
  }
}
