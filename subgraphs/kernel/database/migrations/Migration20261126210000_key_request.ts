/** What a key was first used for: a conflict names it. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261126210000_key_request extends Migration {
  override up(): void {
    this.addSql('alter table idempotency_key add column request text');
    // Where tables are spread, the function writes it, which is otherwise as it was.
    this.addSql(`do $$ begin
      execute replace(replace(pg_get_functiondef('payment_create(uuid, boolean, json)'::regprocedure),
        'resource_id, created_at)', 'resource_id, created_at, request)'),
        'made.id, made.created_at)', 'made.id, made.created_at, one->>''request'')');
    end $$`);
  }
}
