/**
 * What protects a shop beside its keys: allow-list, request signatures; and when a key was last
 * used.
 */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261121121500_shop_protection extends Migration {
  override up(): void {
    this.addSql('alter table shop add column require_signature boolean not null default false');
    this.addSql('alter table shop add column signing_secret_sealed text');
    this.addSql("alter table shop add column allow_list text[] not null default '{}'");
    this.addSql(
      'alter table shop add constraint shop_signature_needs_secret check (not require_signature or signing_secret_sealed is not null)',
    );
    this.addSql('alter table api_key add column last_used_at timestamptz(3)');
  }
}
