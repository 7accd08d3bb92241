/**
 * Events, their deliveries and the attempts become partitioned by the month of the event, so that
 * what is old is dropped and not deleted row by row. The month is a function of the event, so the
 * longer keys mean what the shorter ones did. The partitions live in a schema of their own;
 * `kernel/retention/keep-partitions` makes them.
 */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261121151000_partitions extends Migration {
  override up(): void {
    this.addSql('create schema partitions');
    // Attempts go with their delivery, and so have its month.
    this.addSql('alter table webhook_attempt add column created_at timestamptz(3)');
    this.addSql(`update webhook_attempt as attempt set created_at = delivery.created_at from webhook_delivery as delivery
      where delivery.merchant_id = attempt.merchant_id and delivery.id = attempt.delivery_id`);
    this.addSql('delete from webhook_attempt where created_at is null');
    this.addSql('alter table webhook_attempt alter column created_at set not null');

    this.#partition(
      'event',
      'event_pkey primary key (merchant_id, id, created_at)',
      'alter sequence event_position_seq owned by event_by_month.position',
    );
    this.#partition(
      'webhook_attempt',
      'webhook_attempt_pkey primary key (merchant_id, delivery_id, number, created_at)',
    );
    this.#partition(
      'webhook_delivery',
      'webhook_delivery_pkey primary key (merchant_id, id, created_at)',
    );
    this.addSql(
      'alter table webhook_delivery add constraint webhook_delivery_once unique (merchant_id, event_id, lane, created_at)',
    );

    this.addSql('create index event_outbox on event (position) where sequence is null');
    this.addSql('create index event_sequence on event (sequence)');
    this.addSql(
      'create index event_followed on event (follower, sequence) where follower is not null',
    );
    this.addSql(
      `create index webhook_delivery_due on webhook_delivery (lane, next_attempt_at) where status = 'pending'`,
    );
    this.addSql(
      'create index webhook_delivery_leased on webhook_delivery (lane) where lease_until is not null',
    );
    this.addSql(
      'create index webhook_delivery_subject on webhook_delivery (merchant_id, subject_id, created_at)',
    );
    this.addSql(
      'create index webhook_delivery_list on webhook_delivery (merchant_id, created_at, id)',
    );
    this.addSql(
      `create index webhook_delivery_failed on webhook_delivery (merchant_id, created_at, id) where status = 'failed'`,
    );
  }

  // An insert never fails for want of a partition: what has none lands in the default one, whose
  // own index finds what is old in it.
  #partition(table: string, key: string, between?: string): void {
    this.addSql(
      `create table ${table}_by_month (like ${table} including defaults) partition by range (created_at)`,
    );
    this.addSql(`create table partitions.${table}_default partition of ${table}_by_month default
      with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000)`);
    this.addSql(`create index ${table}_default_age on partitions.${table}_default (created_at)`);
    if (between) this.addSql(between);
    this.addSql(`insert into ${table}_by_month select * from ${table}`);
    this.addSql(`drop table ${table}`);
    this.addSql(`alter table ${table}_by_month rename to ${table}`);
    this.addSql(`alter table ${table} add constraint ${key}`);
  }
}
