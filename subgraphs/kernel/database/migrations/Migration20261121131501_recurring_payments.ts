/**
 * Payments of saved methods: what they are for, what was saved of them, who follows their events.
 * Tokens know their binding and the bank's reference.
 */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261121131501_recurring_payments extends Migration {
  override up(): void {
    this.addSql(`alter table payment add column kind text, add column token_id uuid, add column subscription_id uuid, add column saved_reference text,
      add column verification boolean not null default false`);
    this.addSql(`alter table payment add constraint payment_kind check
      (kind = any (array['token_bind'::text, 'subscription_init'::text, 'token_charge'::text, 'subscription_charge'::text]))`);
    this.addSql(
      `alter table payment add constraint payment_of_token check ((kind is null) = (token_id is null))`,
    );

    this.addSql('alter table event add column follower text');
    this.addSql(
      'create index event_followed on event (follower, sequence) where follower is not null',
    );
    this.addSql(`create table follower_position (
      follower text not null,
      sequence bigint not null,
      primary key (follower))`);
    this.addSql(`insert into follower_position (follower, sequence) values ('recurring', 0)`);

    this.addSql(
      'alter table token add column binding_payment_id uuid, add column saved_reference text, add column customer_email text',
    );
    this.addSql(
      `alter table token add constraint token_status check (status = any (array['pending'::text, 'active'::text, 'cancelled'::text]))`,
    );
    this.addSql(
      `alter table token add constraint token_active check (status <> 'active'::text or saved_reference is not null)`,
    );
  }
}
