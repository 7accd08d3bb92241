/** Merchants' own accounts at acquirers; their secrets are sealed. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261121150000_bank_accounts extends Migration {
  override up(): void {
    this.addSql(`create table bank_account (
      merchant_id uuid not null,
      connector text not null,
      purpose text not null,
      account text not null,
      secret_sealed text not null,
      active boolean not null,
      created_at timestamptz(3) not null,
      changed_at timestamptz(3) not null,
      primary key (merchant_id, connector, purpose, account))`);
    this.addSql(
      `alter table bank_account add constraint bank_account_purpose check (purpose = any (array['payments'::text, 'payouts'::text]))`,
    );
    this.addSql(
      `create unique index bank_account_active on bank_account (merchant_id, connector, purpose) where active`,
    );
  }
}
