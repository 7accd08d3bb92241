/** How calls to banks went, by five minutes and process: counts that are kept for two days. */
import { Migration } from '@mikro-orm/migrations';

const bounds_ms = [25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 20_000];

export class Migration20261123200000_bank_health extends Migration {
  override up(): void {
    this.addSql(`create table bank_health (
      at timestamptz(3) not null,
      connector text not null,
      mode text not null,
      operation text not null,
      method text not null,
      process text not null,
      calls integer not null,
      failures integer not null,
      ${bounds_ms.map((bound) => `within_${bound}_ms integer not null`).join(', ')},
      breaker text,
      breaker_since timestamptz(3),
      flushed_at timestamptz(3) not null,
      primary key (at, connector, mode, operation, method, process))
      with (fillfactor = 80)`);
  }
}
