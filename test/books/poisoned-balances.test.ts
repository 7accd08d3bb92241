/** One poisoned row does not stop the others: the fold, the walks over the books, the alerts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { publishAlerts } from '../../subgraphs/platform/alerts/jobs.ts';
import { raiseAlert } from '../../subgraphs/platform/alerts/alerts.ts';
import { readBalances } from '../../subgraphs/ledger/balance.ts';
import { foldBacklog, foldBalances } from '../../subgraphs/ledger/fold.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { metrics } from '../../subgraphs/platform/tracing/telemetry.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { retryDeadLetters, poison, deadLettersOf } from '../support/poison.ts';
import { openHistory, start, type History } from './history.ts';
import { checkAll } from './turns.ts';

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
    (await metrics.getSingleMetric('dead_letters_total')?.get())?.values.find(
      ({ labels }) => labels['task'] === 'fold-balances',
    )?.value ?? 0;
  const before = await counted();
  await foldBacklog(pool, never);
  for (const key of others) assert.deepEqual(await folded(key), ['1000']);
  assert.deepEqual(await folded(bad), []);
  const account = `fold-balances ${bad.shopId}/test/RUB/merchant`;
  assert.deepEqual(await deadLettersOf(pool, bad.merchantId), {
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
  await retryDeadLetters(pool);
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

test('a check of the books continues behind the row that cannot be checked or reported, and finds what else is wrong', async () => {
  const { pool } = migrated.database;
  const [bad, other] = [await migrated.merchant(), await migrated.merchant()];
  for (const key of [bad, bad, other]) {
    const { id } = await history.pay(key, 900n);
    await pool.query('update payment set fee = 5 where id = $1', [id]);
  }
  await history.relay();
  const { rows: spoilt } = await pool.query<{ id: string }>(
    'select id from payment where merchant_id = $1 order by id limit 1',
    [bad.merchantId],
  );
  const alerts = async () =>
    (
      await pool.query<{ merchant_id: string; subject_id: string }>(
        `select merchant_id, subject_id from alert where kind = 'books_differ' and subject_id like 'payment_booked:%'`,
      )
    ).rows;
  // The first of the two rows cannot be reported, nor can that.
  await pool.query(`create function refuse() returns trigger as $$ begin
    if new.subject_id in ('payment_booked:${spoilt[0]?.id}', 'check-books') then raise 'poisoned' using errcode = '23514'; end if;
    return new; end; $$ language plpgsql`);
  await pool.query(
    'create trigger refuse before insert on alert for each row execute function refuse()',
  );
  await checkAll(pool);
  const found = await alerts();
  assert.deepEqual(
    new Set(found.map((alert) => alert.merchant_id)),
    new Set([bad.merchantId, other.merchantId]),
  );
  assert.equal(found.length, 2);
  const { rows: received } = await pool.query(
    `select subject_id from alert where kind = 'dead_letter' and subject_id like 'check-books/%'`,
  );
  assert.deepEqual(
    received,
    [{ subject_id: `check-books/${bad.merchantId}` }],
    'the platform is notified, since the merchant’s alerts cannot be written',
  );
  await pool.query('drop trigger refuse on alert');
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
      fields: {},
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
