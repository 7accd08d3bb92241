/**
 * Every statement of the program on tables that `distribute.sql` has spread over two workers: what
 * Citus refuses is in the lists of what is not yet as it should be, and nothing else is.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { loadModule } from 'libpg-query';
import { copied, distributed } from '../database/distribution.ts';
import { breachesOf } from '../database/merchant-rule.ts';
import { inOneDatabase } from '../database/over-all-merchants.ts';
import { makeStatements, type Listed } from '../database/made-statements.ts';
import { loadProgram, statementsSeen, type Seen } from '../database/statements.ts';
import { distribute, startCitus, type Servers } from './servers.ts';
import { errorCode } from '../../subgraphs/platform/tracing/error-code.ts';

const merchant = `'11111111-1111-4111-8111-111111111111'`;
/** A value of each type that a statement takes; of another it is null. */
const values = new Map([
  ['uuid', merchant],
  ['uuid[]', `array[${merchant}]::uuid[]`],
  ['text', `'test'`],
  ['text[]', `array['test']`],
  ['bigint', '1'],
  ['bigint[]', 'array[1]::int8[]'],
  ['integer', '1'],
  ['integer[]', 'array[1]'],
  ['boolean', 'true'],
  ['boolean[]', 'array[true]'],
  ['timestamp with time zone', 'now()'],
  ['timestamp with time zone[]', 'array[now()]'],
  ['jsonb', `'[]'`],
  ['json', `'[]'`],
]);

/** Has another for sharded tables, over all merchants like itself. */
const hasTwin = 'simulator.settlement_report';

/** What Citus calls unsupported, or cannot plan; not a row that a check refuses on its shard. */
const isRefusal = (error: unknown): boolean =>
  ['0A000', 'XX000', '42601'].includes(errorCode(error)) && !String(error).includes('violates');

let servers: Servers;
let client: pg.Client;
let listed: Listed;
before(async () => {
  servers = await startCitus(process.env['CITUS_BIN'] ?? '');
  const { migrateTemplate } = await import('../support/migrated.ts');
  await migrateTemplate(servers.url);
  await distribute(servers.url);
  await loadModule();
  loadProgram();
  listed = await makeStatements();
  client = new pg.Client({ connectionString: servers.url });
  await client.connect();
});
after(async () => {
  await client.end();
  await servers.stop();
});

/** Runs a statement with values of its types, and undoes it; the error, or null. */
const tryOut = async ({ text }: Seen): Promise<unknown> => {
  await client.query('begin');
  try {
    await client.query(`prepare tried as ${text}`);
    const { rows } = await client.query<{ types: string[] }>(
      `select parameter_types::text[] as types from pg_prepared_statements where name = 'tried'`,
    );
    const given = rows[0]?.types.map((type) => values.get(type) ?? 'null') ?? [];
    await client.query(`execute tried${given.length > 0 ? `(${given.join(', ')})` : ''}`);
    return null;
  } catch (error) {
    return error;
  } finally {
    await client.query('rollback');
    await client.query('deallocate all');
  }
};

describe('on tables that are sharded over two workers', () => {
  test('every table of distribute.sql is sharded, each merchant beside its rows', async () => {
    const { rows } = await client.query<{ name: string; kind: string; group: number }>(
      `select table_name::text as name, citus_table_type as kind, colocation_id as group from citus_tables`,
    );
    const spread = rows.filter(({ kind }) => kind === 'distributed');
    const named = spread.filter(({ name }) => distributed.has(name));
    assert.equal(named.length, distributed.size);
    assert.equal(new Set(named.map(({ group }) => group)).size, 1);
    assert.deepEqual(
      [...copied].filter(
        (name) => !rows.some((row) => row.name === name && row.kind === 'reference'),
      ),
      [],
    );
  });

  test('Citus refuses no statement but those that are listed', async () => {
    const refused: string[] = [];
    const { statements } = statementsSeen();
    for (const seen of statements) {
      const error = await tryOut(seen);
      if (!isRefusal(error)) continue;
      if (seen.name === hasTwin) continue;
      if (Object.hasOwn(inOneDatabase, seen.name)) continue;
      if (listed.inOneDatabase.includes(seen.text)) continue;
      refused.push(`${seen.name} (${seen.site}): ${String(error)}`);
    }
    assert.ok(statements.length > 350, `saw only ${statements.length} statements`);
    assert.deepEqual(refused, []);
  });

  test('the rule finds what Citus refuses', async () => {
    const missed: string[] = [];
    let refused = 0;
    for (const seen of statementsSeen().statements) {
      if (!isRefusal(await tryOut(seen))) continue;
      refused += 1;
      if (breachesOf(seen.text, { distributed, copied }).length === 0) missed.push(seen.name);
    }
    assert.ok(refused > 0, 'Citus refused nothing: is it there?');
    assert.deepEqual(missed, []);
  });
});
