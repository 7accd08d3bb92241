/**
 * Where a card's number could have been left: what processes printed and count, every table of the
 * database, every command that Redis was sent.
 */
import pg from 'pg';
import type { Watched } from './start-watched.ts';

/** A look at everything at once: places to text. */
export type Places = ReadonlyMap<string, string>;

/** Every row of every table, as text. Also what a queue on PostgreSQL holds. */
const tablesOf = async (databaseUrl: string): Promise<[string, string][]> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
        where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
    );
    const dump: [string, string][] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ text: string | null }>(
        `select string_agg(t::text, E'\\n') as text from ${name} t`,
      );
      dump.push([`table ${name}`, rows[0]?.text ?? '']);
    }
    return dump;
  } finally {
    await client.end();
  }
};

/** Everything there is to look at. */
export const lookEverywhere = async (service: Watched): Promise<Places> => {
  const metrics = await Promise.all(
    service.processes.map(
      async ({ url, name }) =>
        [`metrics of ${name}`, await (await fetch(`${url}/metrics`)).text()] as const,
    ),
  );
  const outputs = service.processes.map(
    ({ name, output }) => [`output of ${name}`, output()] as const,
  );
  return new Map<string, string>([
    ...metrics,
    ...outputs,
    ...(await tablesOf(service.databaseUrl)),
    ['commands of Redis', service.redisReceived()],
  ]);
};
