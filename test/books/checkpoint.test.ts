/**
 * A balance is proved from a checkpoint of its sums: what each proof finds, what it costs, and what
 * becomes of a checkpoint that is wrong.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { newRowId } from '../../subgraphs/kernel/database/new-id.ts';
import { balancedChecks } from '../../subgraphs/kernel/ledger/books/balanced.ts';
import { rowsOf } from '../../subgraphs/kernel/ledger/books/check.ts';
import { countPostings, provedFrom } from '../../subgraphs/kernel/ledger/books/checkpoint.ts';
import { walkOn } from '../../subgraphs/kernel/ledger/books/walk-books.ts';
import { foldBalances } from '../../subgraphs/kernel/ledger/fold.ts';
import type { KeyPrincipal } from '../../subgraphs/kernel/service/access/principal.ts';
import { openLog } from '../../subgraphs/kernel/service/tracing/telemetry.ts';
import { metrics } from '../../subgraphs/kernel/service/tracing/telemetry.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { size } from '../support/size.ts';
import { openHistory } from './history.ts';

const range_rows = 7;
const first = '00000000-0000-0000-0000-000000000000';
const hour_ms = 3_600_000;

let migrated: MigratedDatabase;
let key: KeyPrincipal;
let now = Temporal.Now.instant();
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const rows = async <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
  (await migrated.database.pool.query<Row>(text, values)).rows;

/** Payments of the shop that were booked from `from_ms` on, one a millisecond, with the balance. */
const plant = async (
  { merchantId, shopId }: KeyPrincipal,
  count: number,
  from_ms: number,
): Promise<void> => {
  await rows(
    `insert into posting (merchant_id, id, shop_id, mode, currency, type, from_account, to_account, amount, description, source_kind, source_id, created_at)
     select $1, (overlay(hex placing '-' from 9 for 0) || '-4000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $2, 'test', 'RUB', 'payment', 'acquirer_clearing',
       'merchant', 100 + n % 9, '', 'payment', gen_random_uuid(), to_timestamp(($4 + n) / 1000.0)
     from generate_series(1, $3::int) as n, lateral (select lpad(to_hex($4::bigint + n), 12, '0') as hex)`,
    [merchantId, shopId, count, from_ms],
  );
  await rows(
    `insert into balance select merchant_id, shop_id, mode, currency, 'merchant', sum(amount) from posting where merchant_id = $1 group by 1, 2, 3, 4
     on conflict (merchant_id, shop_id, mode, currency, account) do update set amount = excluded.amount`,
    [merchantId],
  );
};

/** A whole pass over a table, by the walk itself. */
const pass = async (walk: 'posting' | 'shop', size = range_rows): Promise<void> => {
  const parts = {
    pool: migrated.database.pool,
    now: () => now,
    log: openLog({ logLevel: 'silent' }, 'test'),
    stopping: new AbortController().signal,
  };
  now = now.add({ hours: 2 });
  await rows('update books_walk set due_at = $1 where name <> $2', [
    now.add({ hours: 24 * 3_650 }).toString(),
    walk,
  ]);
  await rows(
    `update books_walk set due_at = $1, checked_at = null, merchant_ranges = 0, at_merchant_id = '${first}', at_id = '${first}' where name = $2`,
    [now.toString(), walk],
  );
  const ended = () =>
    rows(
      `select 1 from books_walk where name = $1 and checked_at is not null and not exists (select 1 from books_aside)`,
      [walk],
    );
  for (let steps = 0; (await ended()).length === 0; steps += 1) {
    assert.ok(steps < 2_000, 'the pass does not end');
    if (!(await walkOn(parts, size))) now = now.add({ minutes: 5 });
  }
};

const alerts = async (): Promise<readonly string[]> =>
  (
    await rows<{ detail: string }>(
      `select detail from alert where subject_id like 'balance_adds_up:%' and merchant_id = $1 and resolved_at is null`,
      [key.merchantId],
    )
  ).map(({ detail }) => detail);

interface Proof {
  readonly generation: number;
  readonly up_to: string | null;
  readonly counted_to: string | null;
  readonly sum: string | null;
}
const proof = async (): Promise<Proof | undefined> =>
  (
    await rows<Proof>(
      `select generation, up_to, counted_to, (select sum(amount) from balance_checkpoint as counted
         where counted.merchant_id = proof.merchant_id and counted.generation = proof.generation)::text as sum
       from balance_proof as proof where merchant_id = $1`,
      [key.merchantId],
    )
  )[0];
const booked = async (): Promise<string | undefined> =>
  (
    await rows<{ sum: string }>('select sum(amount)::text from posting where merchant_id = $1', [
      key.merchantId,
    ])
  )[0]?.sum;

const balanceIs = /^the balance test\/RUB\/merchant of the shop is \d+, its entries sum to \d+$/;

/** Each pass walks what is left. */
const removeAll = async (): Promise<void> => {
  await rows('delete from posting where merchant_id = $1', [key.merchantId]);
  await rows('delete from balance where merchant_id = $1', [key.merchantId]);
  await rows('delete from balance_proof where merchant_id = $1', [key.merchantId]);
  await rows('delete from alert');
};

describe('a balance with a checkpoint', () => {
  beforeEach(async () => {
    key = await migrated.merchant();
    await plant(key, size(100, 300), Date.now() - 48 * hour_ms);
    await pass('posting');
  });
  afterEach(removeAll);
  const oldPosting = `(select id from posting where merchant_id = $1 order by id offset 40 limit 1)`;

  test('is right while nothing is wrong, and the next pass counts the next one', async () => {
    const first = await proof();
    assert.deepEqual([first?.generation, first?.counted_to], [1, null]);
    assert.equal(first?.sum, await booked());
    await plant(key, 50, Date.now() - hour_ms / 2);
    await pass('shop');
    assert.deepEqual(await alerts(), []);
    assert.equal((await proof())?.generation, 1);
    await pass('posting');
    const second = await proof();
    assert.equal(second?.generation, 2);
    assert.equal(second?.sum, first?.sum, 'what is of the last hour is not in it');
    const kept = await rows<{ generation: number }>(
      'select distinct generation from balance_checkpoint where merchant_id = $1',
      [key.merchantId],
    );
    assert.deepEqual(kept, [{ generation: 2 }]);
  });

  test('that was changed is found at once', async () => {
    await rows('update balance set amount = amount + 1 where merchant_id = $1', [key.merchantId]);
    await pass('shop');
    const [detail = '', ...others] = await alerts();
    assert.match(detail, balanceIs);
    assert.deepEqual(others, []);
    // Found again, it is one alert, and the checkpoint stays.
    await pass('shop');
    assert.equal((await alerts()).length, 1);
    assert.equal((await proof())?.generation, 1);
  });

  test('is found wrong at once when a new posting was changed', async () => {
    await plant(key, 20, Date.now() - 60_000);
    await rows(
      'update posting set amount = amount + 1 where merchant_id = $1 and id = (select id from posting where merchant_id = $1 order by id desc limit 1)',
      [key.merchantId],
    );
    await pass('shop');
    assert.match((await alerts())[0] ?? '', balanceIs);
  });

  for (const [what, change] of [
    ['changed', `update posting set amount = amount + 1 where merchant_id = $1 and id = `],
    ['removed', `delete from posting where merchant_id = $1 and id = `],
  ] as const)
    test(`is found wrong by the next count when an old posting was ${what}`, async () => {
      await rows(change + oldPosting, [key.merchantId]);
      // The checkpoint still has it: this proves what has come since, and the balance itself.
      await pass('shop');
      assert.deepEqual(await alerts(), []);
      await pass('posting');
      await pass('shop');
      assert.match((await alerts())[0] ?? '', balanceIs);
    });

  const given = async (): Promise<number> => {
    const counter = await metrics.getSingleMetric('books_checkpoints_distrusted_total')?.get();
    return counter?.values[0]?.value ?? 0;
  };

  test('is right although the checkpoint was changed, which is then given up', async () => {
    const before = await given();
    await rows('update balance_checkpoint set amount = amount + 1 where merchant_id = $1', [
      key.merchantId,
    ]);
    await pass('shop');
    assert.deepEqual(await alerts(), []);
    assert.equal(await proof(), undefined);
    assert.equal(await given(), before + 1);
    await pass('posting');
    assert.equal((await proof())?.sum, await booked());
  });

  test('is right although a posting came in before the end of its checkpoint', async () => {
    await plant(key, 1, Date.now() - 50 * hour_ms);
    await pass('shop');
    assert.deepEqual(await alerts(), []);
    assert.equal(await proof(), undefined);
    await pass('posting');
    await pass('shop');
    assert.deepEqual(await alerts(), []);
    assert.equal((await proof())?.sum, await booked());
  });

  test('is proved from its beginning while it has none, and found wrong so', async () => {
    await rows('delete from balance_proof where merchant_id = $1', [key.merchantId]);
    await rows('update balance set amount = amount + 1 where merchant_id = $1', [key.merchantId]);
    await pass('shop');
    assert.match((await alerts())[0] ?? '', balanceIs);
  });
});

describe('the count of a checkpoint', () => {
  const places = async (): Promise<readonly string[]> =>
    (
      await rows<{ id: string }>('select id from posting where merchant_id = $1 order by id', [
        key.merchantId,
      ])
    ).map(({ id }) => id);
  const range = async (from: string, to: string | null, isFirst = false): Promise<void> => {
    const { merchantId } = key;
    const end = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
    await countPostings(migrated.database.pool, {
      from: { merchantId, id: from },
      to: to === null ? { merchantId: end, id: end } : { merchantId, id: to },
      isFirst,
      now,
    });
  };
  beforeEach(async () => {
    key = await migrated.merchant();
    await plant(key, 100, Date.now() - 48 * hour_ms);
  });
  afterEach(removeAll);

  test('takes a range once, however often and by how many it is walked', async () => {
    const [a = '', b = '', c = ''] = (await places()).filter((_, at) => [20, 40, 60].includes(at));
    await Promise.all([range(a, b, true), range(a, b, true), range(a, b, true)]);
    await Promise.all([range(b, c), range(a, c), range(a, b), range(b, c)]);
    await Promise.all([range(c, null), range(c, null)]);
    assert.deepEqual((await proof())?.generation, 1);
    assert.equal((await proof())?.sum, await booked());
  });

  test('is given up after a range that was not counted', async () => {
    const [a = '', b = '', c = ''] = (await places()).filter((_, at) => [20, 40, 60].includes(at));
    await range(a, b, true);
    await range(c, null);
    assert.deepEqual(await proof(), { generation: 0, up_to: null, counted_to: null, sum: null });
    assert.deepEqual(
      await rows('select 1 from balance_checkpoint where merchant_id = $1', [key.merchantId]),
      [],
    );
  });

  test('is not begun before the last checkpoint is an hour old', async () => {
    const [a = '', b = ''] = (await places()).filter((_, at) => [20, 40].includes(at));
    for (const generation of [1, 1]) {
      await range(a, b, true);
      await range(b, null);
      assert.equal((await proof())?.generation, generation);
    }
  });

  test('takes ids that are no moments, and leaves out what may still be written', async () => {
    const [old] = await places();
    const ids = { fresh: newRowId(), random: `c${randomUUID().slice(1)}` };
    for (const id of Object.values(ids))
      await rows(
        `insert into posting select merchant_id, $2, shop_id, mode, currency, type, from_account, to_account, 1000000, '', source_kind, gen_random_uuid(), null, null, now()
         from posting where merchant_id = $1 limit 1`,
        [key.merchantId, id],
      );
    const [a = '', b = ''] = (await places()).filter((_, at) => [20, 40].includes(at));
    await range(old ?? '', a, true);
    await range(a, b);
    await range(b, ids.fresh);
    await range(ids.fresh, null);
    assert.equal(Number((await proof())?.sum), Number(await booked()) - 1_000_000);
    assert.ok(((await proof())?.up_to ?? 'f') < ids.fresh);
  });

  test('ends an hour before the oldest transaction that has written and goes on', async () => {
    const client = await migrated.database.pool.connect();
    try {
      await client.query('begin');
      const { rows: started } = await client.query<{ at: string }>(
        `select (extract(epoch from now()) * 1000)::bigint::text as at, pg_current_xact_id()`,
      );
      await new Promise((resolve) => setTimeout(resolve, 300));
      const [a = '', b = ''] = (await places()).filter((_, at) => [20, 40].includes(at));
      await range(a, b, true);
      await range(b, null);
      const upTo = Number.parseInt((await proof())?.up_to?.replace('-', '').slice(0, 12) ?? '', 16);
      assert.ok(Math.abs(Number(started[0]?.at) - hour_ms - upTo) <= 1, String(upTo));
    } finally {
      await client.query('rollback');
      client.release();
    }
  });
});

test('passes and proofs raise nothing while payments, refunds and folds go on', async () => {
  const { pool } = migrated.database;
  const history = openHistory(migrated);
  key = await migrated.merchant();
  await plant(key, 100, Date.now() - 48 * hour_ms);
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
  const trading = Promise.all([trade(), trade(), fold()]);
  const looks = size(4, 6);
  for (let looked = 0; looked < looks; looked += 1) {
    await pass('posting', 20);
    await pass('shop', 3);
  }
  stop.abort();
  await trading;
  assert.deepEqual(await alerts(), []);
  assert.ok(((await proof())?.generation ?? 0) > looks - 3);
});

/** Rows of postings that PostgreSQL reads to prove the merchant's balances. */
const readRows = async (): Promise<number> => {
  const check = balancedChecks.find(({ name }) => name === 'balance_adds_up');
  const { merchantId, shopId } = key;
  const [since] = await rows<{ id: string }>(provedFrom.text, [merchantId, merchantId]);
  const literals = [merchantId, first, merchantId, shopId, '100', since?.id];
  const text = (check?.fromCheckpoint?.(rowsOf('shop', 20)) ?? '').replaceAll(
    /\$(\d)/g,
    (_, at: string) => `'${literals[Number(at) - 1]}'`,
  );
  await rows('vacuum analyze posting');
  interface Node {
    readonly 'Relation Name'?: string;
    readonly 'Actual Rows': number;
    readonly 'Actual Loops': number;
    readonly 'Rows Removed by Filter'?: number;
    readonly Plans?: readonly Node[];
  }
  const [plan] = await rows<{ 'QUERY PLAN': readonly { readonly Plan: Node }[] }>(
    `explain (analyze, format json) ${text}`,
  );
  const count = (node: Node): number =>
    (node['Relation Name'] === 'posting'
      ? (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
      : 0) + (node.Plans ?? []).reduce((sum, inner) => sum + count(inner), 0);
  const root = plan?.['QUERY PLAN'][0]?.Plan;
  assert.ok(root);
  return count(root);
};

test('a proof reads what has come since, however many postings there are', async () => {
  const seen: number[] = [];
  for (const total of [2_000, size(4_000, 20_000)]) {
    key = await migrated.merchant();
    await plant(key, total, Date.now() - 48 * hour_ms);
    assert.ok((await readRows()) >= total, 'without a checkpoint all of them are read');
    await pass('posting', 900);
    await plant(key, 30, Date.now() - 60_000);
    seen.push(await readRows());
  }
  assert.deepEqual(seen, [30, 30]);
});
