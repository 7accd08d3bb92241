/**
 * Keys that can pay out and that one person of the merchant asked for: another one approves them.
 * Decision A-245.
 */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261126211000_approved_keys extends Migration {
  override up(): void {
    this.addSql(
      'alter table api_key add column requested_by text, add column approved_by text, add column approved_at timestamptz(3)',
    );
    this.addSql(
      'alter table api_key add constraint api_key_two check (approved_by <> requested_by) not valid',
    );
  }
}
