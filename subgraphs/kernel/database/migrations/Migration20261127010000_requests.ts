/** The log of requests that keys made (decision D-126). */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261127010000_requests extends Migration {
  override up(): void {
    // A request of a key that was refused, that failed, or that created something; bodies are
    // masked. The caller may name several requests with one id. Partitioned by the day, so that a
    // day is dropped and not deleted row by row.
    this.addSql(`create table api_request (
      merchant_id uuid not null,
      id uuid not null,
      shop_id uuid not null,
      mode text not null,
      request_id text not null,
      method text not null,
      path text not null,
      status int not null,
      code text,
      key_prefix text not null,
      idempotency_key text,
      duration_ms int not null,
      request_body text,
      response_body text,
      created_at timestamptz(3) not null,
      primary key (merchant_id, id, created_at)
    ) partition by range (created_at)`);
    this.addSql(
      'create index api_request_list on api_request (merchant_id, shop_id, mode, created_at, id)',
    );
    this.addSql('create index api_request_id on api_request (merchant_id, request_id, created_at)');
    this.addSql(`create table partitions.api_request_default partition of api_request default
      with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000)`);
  }
}
