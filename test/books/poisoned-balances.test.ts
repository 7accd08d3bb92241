/** One poisoned row stops nobody else: the fold, the walks over the books, the alerts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { publishAlerts } from '../../subgraphs/kernel/alerts/jobs.ts';
import { raiseAlert } from '../../subgraphs/kernel/alerts/raise-alert.ts';
import { readBalances } from '../../subgraphs/kernel/ledger/balance.ts';
import { walkOn } from '../../subgraphs/kernel/ledger/books/walk-books.ts';
import { foldBacklog, foldBalances } from '../../subgraphs/kernel/ledger/fold.ts';
import type { KeyPrincipal } from '../../subgraphs/kernel/service/access/principal.ts';
import { metrics, openLog } from '../../subgraphs/kernel/service/tracing/telemetry.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { endSetAside, poison, setAsideOf } from '../support/poison.ts';
import { openHistory, start, type History } from './history.ts';

let migrated: MigratedDatabase;
let history: History;
before(async () => {
  migrated = await startMigratedDatabase();
  history = openHistory(migrated);
});
after(() => migrated.close());

const never = new AbortController().signal;
const folded = async ({ merchantId }: KeyPrincipal): Promise<readonly string[]> => {
  const { rows } = await migrated.database.pool.query<{ amount: string }>(
    'select amount::text from balance where merchant_id = $1 order by account',
    [merchantId],
  );
  return rows.map(({ amount }) => amount);
};

test('an account that cannot be folded is set aside with an alert, and all others are folded by the same run', async () => {
  const { pool } = migrated.database;
  const keys = await Promise.all(Array.from({ length: 5 }, () => migrated.merchant()));
  const [bad, ...others] = keys;
  assert.ok(bad);
  for (const key of keys) await history.adjust(key, 1_000n, true);
  const cure = await poison(pool, 'balance', 'insert', bad.merchantId);
  const counted = async (): Promise<number> =>
    (await metrics.getSingleMetric('work_set_aside_total')?.get())?.values.find(
      ({ labels }) => labels['task'] === 'fold-balances',
    )?.value ?? 0;
  const before = await counted();
  await foldBacklog(pool, never);
  for (const key of others) assert.deepEqual(await folded(key), ['1000']);
  assert.deepEqual(await folded(bad), []);
  const account = `fold-balances ${bad.shopId}/test/RUB/merchant`;
  assert.deepEqual(await setAsideOf(pool, bad.merchantId), {
    subjects: [account],
    alerts: ['fold-balances'],
  });
  assert.equal((await counted()) - before, 1);
  const [row] = await readBalances(pool, bad.merchantId, 'test', 'RUB');
  assert.equal(row?.balance, 1_000n, 'its balance is right all the same');
  await history.adjust(bad, 5n, true);
  for (const key of others) await history.adjust(key, 1n, true);
  assert.equal(
    await foldBalances(pool),
    others.length,
    'it is left alone, and costs the others nothing more',
  );
  await cure();
  await endSetAside(pool);
  await foldBacklog(pool, never);
  assert.deepEqual(await folded(bad), ['1005']);
});

test('more deltas of a poisoned account than a round takes do not fill the rounds', async () => {
  const { pool } = migrated.database;
  const [bad, other] = [await migrated.merchant(), await migrated.merchant()];
  for (let index = 0; index < 12; index += 1) await history.adjust(bad, 1n, true);
  const cure = await poison(pool, 'balance', 'insert', bad.merchantId);
  await history.adjust(other, 7n, true);
  await foldBacklog(pool, never, { limit: 3 });
  assert.deepEqual(await folded(other), ['7']);
  await cure();
});

test('a walk over the books goes on behind the row that cannot be checked or reported, and finds what is wrong with others', async () => {
  const { pool } = migrated.database;
  const [bad, other] = [await migrated.merchant(), await migrated.merchant()];
  for (const key of [bad, other]) {
    const { id } = await history.pay(key, 900n);
    await pool.query('update payment set fee = 5 where id = $1', [id]);
  }
  await history.relay();
  const cure = await poison(pool, 'alert', 'insert', bad.merchantId);
  await pool.query(
    `update books_walk set due_at = now() + interval '1 day' where name <> 'payment'`,
  );
  const parts = {
    pool,
    now: () => Temporal.Now.instant(),
    log: openLog({ logLevel: 'silent' }, 'test'),
    stopping: never,
  };
  const { rows: walks } = await pool.query<{ at: string }>(
    `select at_id as at from books_walk where name = 'payment'`,
  );
  assert.equal(walks.length, 1);
  assert.equal(await walkOn(parts), true);
  const { rows } = await pool.query('select merchant_id from alert where kind = $1', [
    'books_differ',
  ]);
  assert.deepEqual(rows, [{ merchant_id: other.merchantId }]);
  const { rows: received } = await pool.query(
    `select subject_id from alert where kind = 'work_set_aside' and subject_id like 'check-books/%'`,
  );
  assert.deepEqual(
    received,
    [{ subject_id: `check-books/${bad.merchantId}` }],
    'the platform is notified, since the merchant’s alerts cannot be written',
  );
  const { rows: passed } = await pool.query(
    'select checked_at is not null as passed from books_walk where name = $1',
    ['payment'],
  );
  assert.deepEqual(passed, [{ passed: true }]);
  await cure();
});

test('an alert that cannot be marked as published holds back no other', async () => {
  const { pool } = migrated.database;
  const [bad, other] = [await migrated.merchant(), await migrated.merchant()];
  await pool.query('update alert set told_at = now()');
  for (const { merchantId } of [bad, other]) {
    await raiseAlert(pool, {
      kind: 'late_success',
      merchantId,
      shopId: null,
      mode: null,
      subjectId: 'x',
      detail: 'It came too late',
      at: start,
    });
  }
  const cure = await poison(pool, 'alert', 'update', bad.merchantId);
  const received: string[] = [];
  const bus = {
    publish: async (_: string, message: unknown) => void received.push(JSON.stringify(message)),
  };
  await publishAlerts({ pool, bus, now: () => Temporal.Now.instant() });
  assert.ok(received.some((message) => message.includes(other.merchantId)));
  assert.ok(
    !received.some(
      (message) => message.includes('It came too late') && message.includes(bad.merchantId),
    ),
  );
  await cure();
});
