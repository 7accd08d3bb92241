/**
 * Until when the call that claimed an idempotency key counts as asking for its answer: repeated
 * calls wait for it.
 */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261126231000_asking_until extends Migration {
  override up(): void {
    this.addSql('alter table idempotency_key add column asking_until timestamptz(3)');
    // Where tables are spread, the function writes it, which is otherwise as it was.
    this.addSql(`do $$ begin
      execute replace(replace(pg_get_functiondef('payment_create(uuid, boolean, json)'::regprocedure),
        'created_at, request)', 'created_at, request, asking_until)'),
        'one->>''request'')', 'one->>''request'', case when (one->>''asks_later'')::boolean then clock_timestamp() + interval ''4 seconds'' end)');
    end $$`);
  }
}
