/**
 * A service that does nothing but write: starts the embedded PostgreSQL in the directory given as
 * argument, says its address, then inserts one number after the other and says each one that was
 * acknowledged. It is there to be killed.
 */
import pg from 'pg';
import { startEmbeddedPostgres } from '../../subgraphs/platform/database/embedded-postgres.ts';

const server = await startEmbeddedPostgres({
  dataDir: process.argv[2] ?? '',
  progress: () => {},
  handover_ms: 0,
});
process.stdout.write(`url ${server.url}\n`);
const client = new pg.Client({ connectionString: server.url });
client.on('error', () => {});
await client.connect();
await client.query('create table if not exists written (number int primary key)');
const { rows } = await client.query('select coalesce(max(number), 0)::int as last from written');
for (let number: number = rows[0].last + 1; ; number += 1) {
  await client.query('insert into written values ($1)', [number]);
  process.stdout.write(`wrote ${number}\n`);
}
