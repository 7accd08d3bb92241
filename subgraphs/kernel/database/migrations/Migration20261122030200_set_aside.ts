/**
 * Rows that a task of the background failed at: left alone for a while, so that they hold up nobody
 * else. Two more kinds of alerts.
 */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261122030200_set_aside extends Migration {
  override up(): void {
    this.addSql(`create table set_aside (
      merchant_id uuid not null,
      task text not null,
      subject_id text not null,
      tries int not null,
      due_at timestamptz(3) not null,
      primary key (merchant_id, task, subject_id))`);
    this.addSql('create index set_aside_age on set_aside (due_at)');
    this.addSql('alter table alert drop constraint alert_kind');
    this.addSql(`alter table alert add constraint alert_kind check (kind = any (array['late_success', 'books_differ', 'reconciliation_difference',
      'event_without_delivery', 'bank_answer_contradicts', 'bank_echo_differs', 'balance_at_bound', 'work_set_aside'])) not valid`);
  }
}
