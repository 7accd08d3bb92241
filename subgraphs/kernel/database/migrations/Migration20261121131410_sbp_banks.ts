/** The SBP directory as an acquirer last gave it, beside the one that comes with the service. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261121131410_sbp_banks extends Migration {
  override up(): void {
    this.addSql(`create table sbp_bank (
      member_id text not null,
      name text not null,
      name_en text not null,
      connector text not null,
      refreshed_at timestamptz(3) not null,
      primary key (member_id))`);
    this.addSql(
      `alter table sbp_bank add constraint sbp_bank_member check (member_id ~ '^[0-9]{12}$'::text)`,
    );
  }
}
