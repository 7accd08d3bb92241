/**
 * Two-step payments: what a capture takes, how long the bank holds the money, and what it was
 * ordered to do with it; and what the simulated bank did with its holds.
 */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261123130000_holds extends Migration {
  override up(): void {
    this.addSql(`alter table payment add column capture text, add column amount_captured bigint, add column capture_before timestamptz(3),
      add column hold_order text, add column hold_key uuid`);
    this.addSql(
      `alter table payment add constraint payment_capture check (capture = any (array['manual'::text])) not valid`,
    );
    this.addSql(
      'alter table payment add constraint payment_captured check (amount_captured >= 1 and amount_captured <= amount) not valid',
    );
    this.addSql(
      `alter table payment add constraint payment_hold check ((hold_order is null) = (hold_key is null) and hold_order = any (array['capture'::text, 'cancel'::text, 'end'::text, 'give_up'::text])) not valid`,
    );
    this.addSql(
      `alter table payment add constraint payment_authorized check (status <> 'authorized'::text or capture_before is not null) not valid`,
    );
    this.addSql('alter table payment drop constraint payment_status');
    this.addSql(
      `alter table payment add constraint payment_status check (status = any (array['pending'::text, 'processing'::text, 'authorized'::text, 'succeeded'::text, 'failed'::text, 'expired'::text, 'cancelled'::text, 'refunded'::text])) not valid`,
    );
    this.addSql('alter table simulator_operation add column holds boolean');
    this.addSql(`create table simulator_hold_order (
      merchant_id uuid not null,
      operation_id uuid not null,
      payment_id uuid not null,
      kind text not null,
      amount bigint not null,
      failure_code text,
      answer_at timestamptz(3),
      created_at timestamptz(3) not null,
      primary key (merchant_id, operation_id),
      constraint simulator_hold_order_kind check (kind = any (array['capture'::text, 'release'::text]))
    )`);
    this.addSql(
      'create unique index simulator_hold_settled on simulator_hold_order (merchant_id, payment_id) where failure_code is null',
    );
  }
}
