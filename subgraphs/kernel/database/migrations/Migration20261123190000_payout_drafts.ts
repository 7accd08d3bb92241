/** Payouts that one person proposes and another approves. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261123190000_payout_drafts extends Migration {
  override up(): void {
    this.addSql(`create table payout_draft (
      merchant_id uuid not null,
      id uuid not null,
      shop_id uuid not null,
      mode text not null,
      amount bigint not null,
      currency text not null,
      method text not null,
      status text not null,
      recipient_phone text null,
      recipient_bank_id text null,
      recipient_name text null,
      recipient_card_mask text null,
      recipient_card_digest text null,
      recipient_account text null,
      recipient_bik text null,
      recipient_inn text null,
      reason text null,
      created_by text not null,
      created_at timestamptz(3) not null,
      expires_at timestamptz(3) not null,
      decided_by text null,
      decided_at timestamptz(3) null,
      reject_reason text null,
      refusal_code text null,
      refusal_message text null,
      refused_at timestamptz(3) null,
      primary key (merchant_id, id),
      constraint payout_draft_amount check (amount >= 1 and amount <= 9007199254740991),
      constraint payout_draft_method check (method = any (array['payouts_sbp'::text, 'payouts_card'::text, 'payouts_account'::text])),
      constraint payout_draft_status check (status = any (array['pending'::text, 'approved'::text, 'rejected'::text, 'expired'::text])),
      constraint payout_draft_decided check ((status = 'pending'::text) = (decided_at is null)),
      constraint payout_draft_two check (status <> 'approved'::text or decided_by <> created_by))`);
    for (const index of [
      'index payout_draft_registry on payout_draft (merchant_id, shop_id, mode, created_at, id)',
      'index payout_draft_filter on payout_draft (merchant_id, shop_id, mode, status, created_at, id)',
      'index payout_draft_newest on payout_draft (mode, created_at, id)',
      "index payout_draft_pending on payout_draft (merchant_id, mode) where status = 'pending'",
      "index payout_draft_ends on payout_draft (expires_at) where status = 'pending'",
    ])
      this.addSql(`create ${index}`);
  }
}
