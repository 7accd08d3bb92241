/**
 * Payouts: their fee, their recipients by account, the bank that has them, when it is asked next,
 * and what a payout must never be.
 */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261121131400_payouts extends Migration {
  override up(): void {
    this.addSql(`alter table payout add column fee bigint not null default 0, add column connector text, add column recipient_account text,
      add column recipient_bik text, add column recipient_inn text, add column sent_at timestamptz(3), add column ask_at timestamptz(3)`);
    this.addSql('alter table payout alter column fee drop default');
    this.addSql('create index payout_ask_due on payout (ask_at) where ask_at is not null');
    this.addSql(
      'alter table payout add constraint payout_fee check (fee >= 0 and fee <= 9007199254740991)',
    );
    this.addSql(
      `alter table payout add constraint payout_final check ((status = 'pending'::text) = (completed_at is null))`,
    );
    this.addSql(
      `alter table payout add constraint payout_failed check ((status = 'failed'::text) = (fail_reason is not null))`,
    );
    this.addSql(
      `alter table payout add constraint payout_status check (status = any (array['pending'::text, 'succeeded'::text, 'failed'::text]))`,
    );
    this.addSql(
      `alter table payout add constraint payout_method check (method = any (array['payouts_sbp'::text, 'payouts_card'::text, 'payouts_account'::text]))`,
    );
  }
}
