/**
 * A statement that PostgreSQL refuses: nothing of it is left when the program learns of it, and its
 * connection continues, unless that is what fails.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { inTransaction, run, type Runner } from '../../subgraphs/platform/database/statement.ts';
import { errorCode } from '../../subgraphs/platform/tracing/error-code.ts';
import { poisonRow } from '../support/poison.ts';
import { openPool, startTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let pool: pg.Pool;
before(async () => {
  database = await startTestDatabase();
  pool = openPool(database.url, 1);
  await pool.query('create table tea (id int primary key, cups int not null)');
  await pool.query('insert into tea values (1, 0)');
  await poisonRow(pool, 'tea', 'update', { id: 1 });
});
after(async () => {
  await pool.end();
  await database.stop();
});

const spill = { name: 'test.spill', text: 'update tea set cups = 1 where id = $1' };
const pour = { name: 'test.pour', text: 'select id from tea for update skip locked' };
const count = { name: 'test.count', text: 'select cups from tea' };

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(() => assert.fail('it was not refused'), errorCode);
const connection = async (runner: Runner): Promise<number | undefined> =>
  (await runner.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;

test('its locks are released by then, and its connection is kept', async () => {
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  const before = await connection(pool);
  for (let times = 0; times < 300; times += 1) {
    assert.equal(await codeOf(run(pool, spill, [1])), 'P0001');
    const { rows } = await other.query<{ id: number }>(pour.text);
    assert.deepEqual(rows, [{ id: 1 }], `after ${times}`);
  }
  await other.end();
  assert.equal(await connection(pool), before);
});

for (const [how, work] of [
  ['alone', () => run(pool, count, [])],
  ['in a transaction', () => inTransaction(pool, (client) => run(client, count, []))],
] as const)
  test(`one whose plan is older than its table, ${how}, fails once: a new connection plans it anew`, async () => {
    await work();
    await pool.query('alter table tea alter cups type bigint');
    assert.equal(await codeOf(work()), '0A000');
    assert.deepEqual(await work(), [{ cups: 0n }]);
    await pool.query('alter table tea alter cups type int');
    await codeOf(work());
  });

test('one that its connection has lost, as behind a pooler, fails once, too', async () => {
  await run(pool, count, []);
  await pool.query('deallocate all');
  assert.equal(await codeOf(run(pool, count, [])), '26000');
  assert.deepEqual(await run(pool, count, []), [{ cups: 0 }]);
});

test('one whose session PostgreSQL ends takes its connection with it, and the next has another', async () => {
  const before = await connection(pool);
  const end = { name: 'test.end', text: 'select pg_terminate_backend(pg_backend_pid())' };
  assert.equal(await codeOf(run(pool, end, [])), '57P01');
  assert.notEqual(await connection(pool), before);
});
