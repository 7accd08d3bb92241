/** Whose statements wait for whom. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, mock, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { GraphQLError } from 'graphql';
import type pg from 'pg';
import { pino } from 'pino';
import type { Call } from '../../subgraphs/platform/access/principal.ts';
import { inLane, outsideOfLane } from '../../subgraphs/platform/access/lane.ts';
import { TestClocks } from '../../subgraphs/platform/clock/test-clocks.ts';
import { bufferInto } from '../../subgraphs/platform/database/batch-calls.ts';
import { ShopEntity } from '../../subgraphs/platform/database/entities.ts';
import { type Database, migrate, openDatabase } from '../../subgraphs/platform/database/orm.ts';
import { run } from '../../subgraphs/platform/database/statement.ts';
import { presentErrors } from '../../subgraphs/platform/graph/present-errors.ts';
import { entities } from '../../subgraphs/entities.ts';
import { startTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

let server: TestDatabase;
let database: Database;
let pool: pg.Pool;
before(async () => {
  server = await startTestDatabase({ migrated: true });
  database = await openDatabase({ url: server.url, entities, pool: 6 });
  await migrate(database);
  ({ pool } = database);
});
after(async () => {
  await database?.close();
  await server?.stop();
});

/** Holds a lock, so that statements that want it run until `release`. */
const holdLock = async (key: number) => {
  const holder = await pool.connect();
  await holder.query('select pg_advisory_lock($1)', [key]);
  return {
    release: async (): Promise<void> => {
      await holder.query('select pg_advisory_unlock($1)', [key]);
      holder.release();
    },
    /** How many statements want the lock. */
    wanted: async (): Promise<number> => {
      const { rows } = await holder.query(
        `select count(*)::int as count from pg_locks where locktype = 'advisory' and not granted and objid = $1`,
        [key],
      );
      return rows[0].count;
    },
  };
};

const wanting = (key: number) => ({
  name: '',
  text: `select pg_advisory_lock(${key}), pg_advisory_unlock(${key})`,
});
const quick = { name: '', text: 'select 1 as one' };
const asked: Call = {
  principal: { kind: 'service', name: 'test' },
  requestId: 'test',
  isInLane: true,
};

test('a caller has one statement at a time, and no other caller waits for a connection', async () => {
  const lock = await holdLock(1);
  const calls = Array.from({ length: 20 }, () =>
    inLane('merchant a', () => run(pool, wanting(1), [])),
  );
  await eventually(async () => (await lock.wanted()) === 1, 'the first');
  // Neither a call outside of the lane waits, nor a change within a document.
  assert.deepEqual(await run(pool, quick, []), [{ one: 1 }]);
  const changed = inLane('merchant a', () => outsideOfLane(() => run(pool, quick, [])));
  assert.deepEqual(await changed, [{ one: 1 }]);
  assert.equal(await lock.wanted(), 1);
  await lock.release();
  await Promise.all(calls);
});

test('the caller who has used least is the next', async () => {
  const lock = await holdLock(2);
  const order: string[] = [];
  const ask = (caller: string) =>
    inLane(caller, async () => {
      await run(pool, wanting(2), []);
      order.push(caller);
    });
  const first = Array.from({ length: 3 }, () => ask('merchant greedy'));
  await eventually(async () => (await lock.wanted()) === 1, 'the first');
  const others = ['merchant b', 'merchant c'].map(ask);
  await lock.release();
  await Promise.all([...first, ...others]);
  assert.deepEqual(order, [
    'merchant greedy',
    'merchant b',
    'merchant c',
    'merchant greedy',
    'merchant greedy',
  ]);
});

test('a call whose statements have waited ten seconds is refused, and takes no turn', async (t) => {
  const lock = await holdLock(3);
  const running = inLane('merchant a', () => run(pool, wanting(3), []));
  await eventually(async () => (await lock.wanted()) === 1, 'the first');
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  const waiting = inLane('merchant a', () => run(pool, quick, []));
  const refused = assert.rejects(waiting, (error: any) => {
    assert.deepEqual(error.extensions, { code: 'rate_limited', http: { status: 429 } });
    return true;
  });
  // The ORM wraps what its connection throws: the caller learns the same.
  const merchantId = randomUUID();
  const read = inLane('merchant a', () => database.fork().find(ShopEntity, { merchantId }));
  const presented = read.then(
    () => assert.fail('it had its turn'),
    (error: Error) => {
      const errors = [new GraphQLError(error.message, { originalError: error })];
      return presentErrors({ data: null, errors }, asked, pino({ level: 'silent' })).errors;
    },
  );
  await nextTurn();
  mock.timers.tick(10_000);
  await refused;
  assert.deepEqual((await presented)?.[0]?.extensions['code'], 'rate_limited');
  mock.timers.reset();
  await lock.release();
  await running;
  assert.deepEqual(await inLane('merchant a', () => run(pool, quick, [])), [{ one: 1 }]);
});

test('what the statements of a call wait at the same time counts once', async () => {
  const [first, second] = [await holdLock(4), await holdLock(5)];
  const ask = (statement: typeof quick) => inLane('merchant a', () => run(pool, statement, []));
  const running = ask(wanting(4));
  await eventually(async () => (await first.wanted()) === 1, 'the first');
  const began_ms = performance.now();
  const call = inLane('merchant a', async () => {
    await Promise.all(Array.from({ length: 200 }, () => run(pool, quick, [])));
    return run(pool, quick, []);
  });
  const next = ask(wanting(5));
  // Together they wait for more than ten seconds then.
  await eventually(() => performance.now() > began_ms + 100, 'a tenth of a second');
  await first.release();
  await eventually(async () => (await second.wanted()) === 1, 'the next');
  await second.release();
  assert.deepEqual(await call, [{ one: 1 }]);
  await Promise.all([running, next]);
});

test('a statement that fails gives its turn on', async () => {
  const failing = { name: '', text: 'select 1 / 0' };
  await assert.rejects(
    inLane('merchant a', () => run(pool, failing, [])),
    /division by zero/,
  );
  assert.deepEqual(await inLane('merchant a', () => run(pool, quick, [])), [{ one: 1 }]);
});

test('what all callers share is read and written outside of the lane', async (t) => {
  await pool.query('create table noted (at timestamptz)');
  const bus = { publish: async () => {}, subscribe: () => () => {} };
  const clocks = new TestClocks({ pool, bus, now: () => Temporal.Now.instant() });
  t.after(() => clocks.close());
  const shop = {
    kind: 'shop',
    merchantId: randomUUID(),
    shopId: randomUUID(),
    mode: 'test',
  } as const;
  const rows = bufferInto('noted')(pool, (lost) => assert.equal(lost, 0));
  t.after(() => rows.close());
  const lock = await holdLock(6);
  const running = inLane('merchant a', () => run(pool, wanting(6), []));
  await eventually(async () => (await lock.wanted()) === 1, 'the first');
  await inLane('merchant a', async () => {
    rows.add({ at: Temporal.Now.instant() });
    await clocks.timeOf(shop);
  });
  await clocks.timeOf(shop);
  await eventually(async () => (await pool.query('select from noted')).rowCount === 1, 'the row');
  assert.equal(await lock.wanted(), 1);
  await lock.release();
  await running;
});
