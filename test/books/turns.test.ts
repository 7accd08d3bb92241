/** The merchants' turns: what each finds, what it costs, and who waits for whom. */
import assert from 'node:assert/strict';
import { after, beforeEach, afterEach, before, test } from 'node:test';
import { checks } from '../../subgraphs/ledger/books/checks.ts';
import { readOldestCheck } from '../../subgraphs/ledger/books/check-books.ts';
import { foldBalances } from '../../subgraphs/ledger/fold.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { plantOperations } from '../reconciliation/planted-operations.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { openHistory } from './history.ts';
import { checkAll, takeTurn } from './turns.ts';

const hour_ms = 3_600_000;
const slice_rows = 7;

let migrated: MigratedDatabase;
let key: KeyPrincipal;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const rows = async <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
  (await migrated.database.pool.query<Row>(text, values)).rows;

/**
 * Postings of the shop that were made from `from_ms` on, one a millisecond, with the balance and its
 * hours.
 */
const plant = async (
  { merchantId, shopId }: KeyPrincipal,
  count: number,
  from_ms: number,
): Promise<void> => {
  await rows(
    `insert into posting (merchant_id, id, shop_id, mode, currency, type, from_account, to_account, amount, description, source_kind, source_id, created_at)
     select $1, (overlay(hex placing '-' from 9 for 0) || '-4000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $2, 'test', 'RUB', 'adjustment', 'suspense',
       'merchant', 100 + n % 9, '', 'adjustment', gen_random_uuid(), to_timestamp(($4 + n) / 1000.0)
     from generate_series(1, $3::int) as n, lateral (select lpad(to_hex($4::bigint + n), 12, '0') as hex)`,
    [merchantId, shopId, count, from_ms],
  );
  await rows(
    `insert into balance select merchant_id, shop_id, mode, currency, 'merchant', sum(amount) from posting where merchant_id = $1 group by 1, 2, 3, 4
     on conflict (merchant_id, shop_id, mode, currency, account) do update set amount = excluded.amount`,
    [merchantId],
  );
  await rows(
    `insert into ledger_hour (merchant_id, mode, currency, hour, shop_id, account, type, amount)
     select merchant_id, mode, currency, date_trunc('hour', created_at, 'UTC'), shop_id, 'merchant', type, sum(amount)
     from posting where merchant_id = $1 group by 1, 2, 3, 4, 5, 7
     on conflict (merchant_id, mode, currency, hour, shop_id, account, type) do update set amount = excluded.amount`,
    [merchantId],
  );
};

const details = async (): Promise<readonly string[]> =>
  (await rows<{ detail: string }>(`select detail from alert where resolved_at is null`)).map(
    ({ detail }) => detail,
  );
const balanceIs = /^the balance test\/RUB\/merchant of the shop is \d+, its entries sum to \d+$/;
const check = () => checkAll(migrated.database.pool, slice_rows, key.merchantId);
/** Takes turns until the sums of the merchant's postings are complete. */
const sumAll = async (): Promise<void> => {
  const { pool } = migrated.database;
  const isSummed = () =>
    rows(`select 1 from books_check where merchant_id = $1 and jsonb_array_length(sums) > 0`, [
      key.merchantId,
    ]);
  await rows(`update books_check set due_at = now() + interval '1 day'`);
  await rows(`update books_check set due_at = now() - interval '1 second' where merchant_id = $1`, [
    key.merchantId,
  ]);
  for (let turns = 0; (await isSummed()).length === 0; turns += 1) {
    assert.ok(turns < 100, 'nothing is summed');
    await takeTurn(pool, 40);
  }
};

beforeEach(async () => {
  key = await migrated.merchant();
  await plant(key, 60, Date.now() - 48 * hour_ms);
});
afterEach(() => rows('delete from alert'));

test('a balance that equals its postings raises nothing, however many slices they are', async () => {
  await plant(key, 20, Date.now() - 60_000);
  await check();
  assert.deepEqual(await details(), []);
});

for (const [what, change] of [
  ['a balance', 'update balance set amount = amount + 1 where merchant_id = $1'],
  [
    'a posting that was summed long ago',
    `update posting set amount = amount + 1 where merchant_id = $1 and id = (select id from posting where merchant_id = $1 order by id offset 20 limit 1)`,
  ],
  [
    'the newest posting',
    `update posting set amount = amount + 1 where merchant_id = $1 and id = (select id from posting where merchant_id = $1 order by id desc limit 1)`,
  ],
] as const)
  test(`${what} that was changed is found by the next check, with one alert`, async () => {
    await rows(change, [key.merchantId]);
    await check();
    await check();
    // A changed balance differs from its hours, too.
    const found = (await details()).filter((each) => !each.includes('its hours sum to'));
    const [detail = '', ...others] = found;
    assert.match(detail, balanceIs);
    assert.deepEqual(others, []);
  });

test('a posting that comes in before those that were summed has them summed again, and raises nothing', async () => {
  await sumAll();
  await plant(key, 1, Date.now() - 50 * hour_ms);
  await rows(`update books_check set due_at = now() - interval '1 second' where merchant_id = $1`, [
    key.merchantId,
  ]);
  const { pool } = migrated.database;
  let isDoubted = false;
  while ((await takeTurn(pool, 40)) !== null)
    isDoubted ||= (await rows('select 1 from books_check where is_doubted')).length > 0;
  assert.ok(isDoubted);
  assert.deepEqual(await details(), []);
});

test('a merchant with many rows waits behind each of the others after every slice', async () => {
  const { pool } = migrated.database;
  const small = await migrated.merchant();
  await rows(`update books_check set due_at = now() + interval '1 day'`);
  await rows(
    `update books_check set due_at = now() - case merchant_id when $1 then interval '2 minutes' else interval '1 minute' end where merchant_id in ($1, $2)`,
    [key.merchantId, small.merchantId],
  );
  const taken: (string | null)[] = [];
  for (let turn = 0; turn < 3; turn += 1) taken.push(await takeTurn(pool, slice_rows));
  assert.deepEqual(taken, [key.merchantId, small.merchantId, key.merchantId]);
  await rows(`update books_check set checked_at = '2026-01-01' where merchant_id = $1`, [
    key.merchantId,
  ]);
  assert.equal(String(await readOldestCheck(pool)), '2026-01-01T00:00:00Z');
  while ((await takeTurn(pool, slice_rows)) !== null);
  assert.notEqual(String(await readOldestCheck(pool)), '2026-01-01T00:00:00Z');
});

test('turns that are taken at the same time are of different merchants', async () => {
  const { pool } = migrated.database;
  await rows(`update books_check set due_at = now() + interval '1 day'`);
  await rows(`update books_check set due_at = now() - interval '1 second' where merchant_id = $1`, [
    key.merchantId,
  ]);
  await rows(`create function slowly() returns trigger as $$ begin perform pg_sleep(0.3); return new; end; $$ language plpgsql;
    create trigger slowly before update on books_check for each row execute function slowly()`);
  const taken = await Promise.all([1, 2, 3].map(() => takeTurn(pool, slice_rows)));
  await rows('drop trigger slowly on books_check');
  assert.deepEqual(
    taken.filter((merchant) => merchant !== null),
    [key.merchantId],
  );
});

test('checks raise nothing while payments, refunds and folds go on', async () => {
  const { pool } = migrated.database;
  const history = openHistory(migrated);
  const stop = new AbortController();
  const trade = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const { id } = await history.pay(key, 1_000n);
      await history.refund(key, id, 300n);
    }
  };
  const fold = async (): Promise<void> => {
    while (!stop.signal.aborted) await foldBalances(pool, 3);
  };
  const trading = Promise.all([trade(), fold()]);
  try {
    for (let looked = 0; looked < 4; looked += 1) await checkAll(pool, 20, key.merchantId);
  } finally {
    stop.abort();
    await trading;
  }
  assert.deepEqual(await details(), []);
});

interface Node {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Node[];
}
const readBy = (node: Node): number =>
  (node['Relation Name'] === undefined
    ? 0
    : (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']) +
  (node.Plans ?? []).reduce((sum, inner) => sum + readBy(inner), 0);

test('a slice reads the rows of its facts and no others, whatever PostgreSQL knows of the tables', async () => {
  const huge = await migrated.merchant();
  const [since, until] = ['2026-11-20T00:00:00Z', '2026-11-21T00:00:00Z'].map((at) =>
    Temporal.Instant.from(at),
  );
  assert.ok(since && until);
  const { pool } = migrated.database;
  // PostgreSQL reads a small table whole: the refunds, a tenth of these, must be too many for that.
  await plantOperations(pool, { keys: [huge], payments: 6_000, since, until });
  const client = await pool.connect();
  try {
    for (const mode of ['force_generic_plan', 'force_custom_plan']) {
      await client.query(`set plan_cache_mode = ${mode}`);
      for (const [name, { step, statement, values }] of Object.entries(checks)) {
        if (step === 'balance' || step === 'hour') continue;
        const asked = {
          merchantId: huge.merchantId,
          from: '40000000-0000-0000-0000-000000000000',
          to: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
          limit: 10,
          sums: '[]',
        };
        const given = values(asked).map((value) =>
          Array.isArray(value) ? `'{${value.join()}}'` : `'${String(value)}'`,
        );
        await client.query(`prepare asked as ${statement.text}`);
        const { rows: plans } = await client.query<{
          'QUERY PLAN': readonly { readonly Plan: Node }[];
        }>(`explain (analyze, format json) execute asked(${given.join(', ')})`);
        await client.query('deallocate asked');
        const plan = plans[0]?.['QUERY PLAN'][0]?.Plan;
        assert.ok(plan);
        assert.ok(readBy(plan) <= 300, `${name} reads ${readBy(plan)} rows, ${mode}`);
      }
    }
  } finally {
    client.release(true);
  }
});
