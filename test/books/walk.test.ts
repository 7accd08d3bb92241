/**
 * The walk over the books among merchants of very different sizes, and how fast it goes.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { passOf_s, restAfter_ms, restAtEnd_ms } from '../../subgraphs/kernel/ledger/books/pace.ts';
import { walkOn } from '../../subgraphs/kernel/ledger/books/walk-books.ts';
import { checkedAt } from '../../subgraphs/kernel/ledger/books/watch-books.ts';
import type { KeyPrincipal } from '../../subgraphs/kernel/service/access/principal.ts';
import { openLog } from '../../subgraphs/kernel/service/tracing/telemetry.ts';
import { plantOperations } from '../reconciliation/planted-operations.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';

let migrated: MigratedDatabase;
let [huge, small]: KeyPrincipal[] = [];
before(async () => {
  migrated = await startMigratedDatabase();
  const keys = [await migrated.merchant(), await migrated.merchant()];
  // The huge one stands before the small one in the order of keys.
  [huge, small] = keys.toSorted((one, other) => (one.merchantId < other.merchantId ? -1 : 1));
  const [since, until] = ['2026-11-20T00:00:00Z', '2026-11-21T00:00:00Z'].map((at) =>
    Temporal.Instant.from(at),
  );
  assert.ok(huge && small && since && until);
  await plantOperations(migrated.database.pool, { keys: [huge], payments: 300, since, until });
  await plantOperations(migrated.database.pool, { keys: [small], payments: 20, since, until });
});
after(() => migrated.close());

/** Payments that the books were found to differ at. */
const found = async (): Promise<readonly string[]> =>
  (
    await migrated.database.pool.query<{ id: string }>(
      `select replace(subject_id, 'payment_refunded:', '') as id from alert where subject_id like 'payment_refunded:%' order by raised_at`,
    )
  ).rows.map(({ id }) => id);

/** The merchant's last payment in the order of keys, which then says more was given back. */
const spoil = async ({ merchantId }: KeyPrincipal): Promise<string> => {
  const { rows } = await migrated.database.pool.query<{ id: string }>(
    `update payment set amount_refunded = amount_refunded + 1
     where merchant_id = $1 and id = (select id from payment where merchant_id = $1 order by id desc limit 1) returning id`,
    [merchantId],
  );
  return rows[0]?.id ?? '';
};

test('a small merchant is checked before the huge one in front of it, whose rest is checked beside', async () => {
  assert.ok(huge && small);
  const { pool } = migrated.database;
  await pool.query(`delete from books_walk where name <> 'payment'`);
  const [late, early] = [await spoil(huge), await spoil(small)];
  let now = Temporal.Instant.from('2026-11-24T00:00:00Z');
  const began = now;
  const parts = {
    pool,
    now: () => now,
    log: openLog({ logLevel: 'silent' }, 'test'),
    stopping: new AbortController().signal,
  };
  const aside = async () =>
    (
      await pool.query<{ at_merchant_id: string }>(
        'select at_merchant_id from books_aside where name = $1',
        ['payment'],
      )
    ).rows.map((row) => row.at_merchant_id);
  const ended = async () =>
    (await pool.query('select 1 from books_walk where checked_at is not null')).rowCount === 1;
  // Only the table is walked: what was left is not due before.
  await pool.query(`create function not_yet() returns trigger as $$
    begin new.due_at = new.due_at + interval '100 days'; return new; end; $$ language plpgsql`);
  await pool.query(
    'create trigger not_yet before insert on books_aside for each row execute function not_yet()',
  );
  let steps = 0;
  for (; !(await ended()); steps += 1) {
    assert.ok(steps < 300, 'the pass does not end');
    if (!(await walkOn(parts, 5))) now = now.add({ hours: 1 });
  }
  assert.deepEqual(await found(), [early]);
  assert.deepEqual(await aside(), [huge.merchantId]);
  assert.deepEqual(await checkedAt(migrated.database), [['payment', began]]);

  // A second pass skips what is still walked, and claims no more than was checked.
  await pool.query('update books_walk set due_at = $1', [now.toString()]);
  const second = now;
  for (let more = 0; more < 200; more += 1)
    if (!(await walkOn(parts, 5))) now = now.add({ hours: 1 });
  const { rows } = await pool.query<{ after: boolean }>(
    'select checked_at >= $1 as after from books_walk',
    [second.toString()],
  );
  assert.deepEqual(rows, [{ after: true }]);
  assert.deepEqual(await checkedAt(migrated.database), [['payment', began]]);

  await pool.query('update books_aside set due_at = $1', [now.toString()]);
  for (steps = 0; (await aside()).length > 0; steps += 1) {
    assert.ok(steps < 500, 'what was left does not come to its end');
    if (!(await walkOn(parts, 5, true))) now = now.add({ hours: 1 });
  }
  assert.deepEqual(await found(), [early, late]);
});

test('a walk rests as long as its pass ends within half a day, and not at all where it would not', () => {
  const of = (rows: number) => ({ rows, size: 2_000, took_ms: 100 });
  const seen = [1_000, 10_000_000, 86_000_000, 1_000_000_000].map((rows) => ({
    rest_ms: restAfter_ms(of(rows)),
    pass_s: passOf_s(of(rows)),
  }));
  assert.deepEqual(seen, [
    { rest_ms: 2_000, pass_s: 2 },
    { rest_ms: 2_000, pass_s: 10_500 },
    { rest_ms: 905, pass_s: 43_215 },
    { rest_ms: 0, pass_s: 50_000 },
  ]);
  assert.equal(restAfter_ms({ rows: 100_000, size: 2_000, took_ms: 1_000 }), 10_000);
  assert.deepEqual([restAtEnd_ms(1), restAtEnd_ms(10_000)], [60_000, 100_000]);
});
