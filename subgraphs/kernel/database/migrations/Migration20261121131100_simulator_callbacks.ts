/** What the simulated bank tells by itself, and until when it answers nothing. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261121131100_simulator_callbacks extends Migration {
  override up(): void {
    this.addSql('alter table simulator_operation add column silent_until timestamptz(3)');
    this.addSql(`create table simulator_callback (
      merchant_id uuid not null,
      operation_id uuid not null,
      number int not null,
      shop_id uuid not null,
      mode text not null,
      kind text not null,
      due_at timestamptz(3) not null,
      primary key (merchant_id, operation_id, number))`);
    this.addSql('create index simulator_callback_due on simulator_callback (due_at)');
    this.addSql(
      `alter table simulator_callback add constraint simulator_callback_kind check (kind = any (array['decision'::text, 'opposite'::text, 'pending'::text]))`,
    );
  }
}
