/** Totals by the hour: equal to the ledger after crashes, repetitions and floods. */
import assert from 'node:assert/strict';
import type { TotalsRow } from '../../schema/generated/merchants.ts';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type pg from 'pg';
import { checkBooks } from '../support/check-books.ts';
import { inTransaction } from '../../subgraphs/platform/database/statement.ts';
import { countFacts } from '../../subgraphs/ledger/totals/count-facts.ts';
import { followEvents, walkOlder } from '../../subgraphs/ledger/totals/keep-totals.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import type { TotalsGroup } from '../../schema/generated/merchants.ts';
import { isComplete, readTotals } from '../../subgraphs/merchants/totals/resolvers.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { size } from '../support/size.ts';
import { openHistory, start, type History } from './history.ts';

let migrated: MigratedDatabase;
let history: History;
let key: KeyPrincipal;
const pool = () => migrated.database.pool;

const follow = async (): Promise<number> => {
  let batches = 0;
  while ((await followEvents(pool())) > 0) batches += 1;
  return batches;
};
const countAll = async (): Promise<void> => {
  await history.relay();
  await follow();
  while (await walkOlder(pool()));
};

before(async () => {
  migrated = await startMigratedDatabase();
  history = openHistory(migrated);
  key = await migrated.merchant();
  // One is there before there are totals, the others come while they are kept.
  await history.pay(key, 700n);
  await history.relay();
  await countAll();
  const paid = await history.pay(key, 10_000n);
  await history.refund(key, paid.id, 4_000n);
  // Ends in 06: the simulated bank never answers it.
  await history.refund(key, paid.id, 1_006n);
  await history.pay(key, 5_000n, start.add({ hours: 30 }));
  await countAll();
});
after(() => migrated.close());

/** The first totals of a merchant in two days, or of all. */
const totalsOf = async (
  merchantId: string | null,
  of: 'payment' | 'refund' | 'payout' = 'payment',
  groupBy: TotalsGroup | null = null,
): Promise<readonly TotalsRow[]> => {
  const [rows = []] = await readTotals(pool(), {
    merchantId,
    shopIds: null,
    mode: 'test',
    currency: 'RUB',
    of,
    starts: [start.subtract({ hours: 24 })],
    to: start.add({ hours: 48 }),
    groupBy,
  });
  return rows;
};

const ledger = async (merchantId: string, type: string): Promise<bigint> => {
  const { rows } = await pool().query<{ sum: string }>(
    'select coalesce(sum(amount), 0) as sum from posting where merchant_id = $1 and type = $2',
    [merchantId, type],
  );
  return BigInt(rows[0]?.sum ?? 0);
};

/** Every total there is, as text: two of them are equal when nothing was counted otherwise. */
const everything = async (): Promise<string> => {
  const { rows } = await pool().query<{ line: string }>(
    'select to_jsonb(t)::text as line from hourly_total as t order by 1',
  );
  return rows.map(({ line }) => line).join('\n');
};

test('totals equal the ledger to the kopeck, with the present status of each payment', async () => {
  const [payments] = await totalsOf(key.merchantId);
  assert.equal(payments?.count, 3);
  assert.equal(payments.succeeded, 3);
  assert.equal(payments.amount, 15_700n);
  assert.equal(payments.moved, await ledger(key.merchantId, 'payment'));
  assert.equal(payments.fee, await ledger(key.merchantId, 'fee'));
  const refunds = await totalsOf(key.merchantId, 'refund', 'status');
  assert.deepEqual(
    refunds.map(({ group, count, amount }) => [group, count, amount]),
    [
      ['pending', 1, 1_006n],
      ['succeeded', 1, 4_000n],
    ],
  );
  const [given] = await totalsOf(key.merchantId, 'refund');
  assert.equal(given?.moved, await ledger(key.merchantId, 'refund'));
  assert.deepEqual(await checkBooks(migrated.database), []);
  assert.equal(await isComplete(migrated.database.fork()), true);
});

test('a payment that is refunded whole stays in its hour as refunded', async () => {
  const later = await migrated.merchant();
  const { id } = await history.pay(later, 3_000n);
  await countAll();
  assert.deepEqual(
    (await totalsOf(later.merchantId, 'payment', 'status')).map(({ group }) => group),
    ['succeeded'],
  );
  await history.refund(later, id, 3_000n, start.add({ hours: 9 }));
  await countAll();
  assert.deepEqual(
    (await totalsOf(later.merchantId, 'payment', 'status')).map(({ group, count }) => [
      group,
      count,
    ]),
    [['refunded', 1]],
  );
  const [payments] = await totalsOf(later.merchantId);
  assert.deepEqual([payments?.count, payments?.moved], [1, 3_000n]);
});

test('a refund that the bank refuses is counted as failed, with its code', async () => {
  const later = await migrated.merchant();
  const { id } = await history.pay(later, 3_000n);
  // Ends in 01: the simulated bank refuses it.
  await history.refund(later, id, 1_001n);
  await countAll();
  const codes = await totalsOf(later.merchantId, 'refund', 'failure_code');
  assert.deepEqual(
    codes.map(({ group, count, moved }) => [group, count, moved]),
    [['do_not_honor', 1, null]],
  );
  assert.deepEqual(await checkBooks(migrated.database), []);
});

const backendOf = async (client: pg.PoolClient): Promise<{ readonly pid: number }> => {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const [row] = rows;
  assert.ok(row);
  return row;
};

test('counted anew, and some of it twice, the totals are the same', async () => {
  await countAll();
  const before = await everything();
  const { rows } = await pool().query<{ merchantId: string; subjectId: string }>(
    `select merchant_id as "merchantId", id as "subjectId" from payment union all select merchant_id, id from payout`,
  );
  const counted = await inTransaction(pool(), async (client) => {
    await client.query('delete from counted_fact');
    await client.query('delete from hourly_total');
    // Some twice, and all of it in two halves.
    const half = rows.slice(0, Math.ceil(rows.length / 2));
    return (await countFacts(client, half)) + (await countFacts(client, rows));
  });
  assert.ok(counted >= rows.length, `counted ${counted}`);
  assert.equal(await everything(), before);
  assert.deepEqual(await checkBooks(migrated.database), []);
});

describe('nothing is counted twice', () => {
  test('when the follower is killed while it counts, and begins again', async () => {
    await history.pay(await migrated.merchant(), 1_111n);
    await history.relay();
    const before = await everything();
    const holder = await pool().connect();
    const { pid } = await backendOf(holder);
    await holder.query('begin');
    await holder.query('lock table hourly_total in access exclusive mode');
    const counting = followEvents(pool()).then(
      () => 'counted',
      () => 'killed',
    );
    const waiting = `select pid from pg_stat_activity
      where datname = current_database() and $1 = any (pg_blocking_pids(pid))`;
    for (;;) {
      const { rows } = await pool().query<{ pid: number }>(waiting, [pid]);
      if (rows[0]) {
        await holder.query('select pg_terminate_backend($1)', [rows[0].pid]);
        break;
      }
    }
    assert.equal(await counting, 'killed');
    await holder.query('rollback');
    holder.release();
    assert.equal(await everything(), before);
    await follow();
    assert.notEqual(await everything(), before);
    assert.deepEqual(await checkBooks(migrated.database), []);
  });

  test('when several follow at the same time, and when all events come once more', async () => {
    const busy = await migrated.merchant();
    for (let paid = 0; paid < 5; paid += 1) await history.pay(busy, 100n);
    await history.relay();
    await Promise.all(Array.from({ length: 4 }, () => followEvents(pool(), 3)));
    await follow();
    const [row] = await totalsOf(busy.merchantId);
    assert.deepEqual([row?.count, row?.moved], [5, 500n]);
    const once = await everything();
    await pool().query(`update consumer_offset set sequence = 0 where consumer = 'totals'`);
    assert.ok((await follow()) > 0);
    assert.equal(await everything(), once);
  });

  test('when everything is thrown away and walked anew, as the manual says', async () => {
    const once = await everything();
    await pool()
      .query(`with gone as (delete from hourly_total), forgotten as (delete from counted_fact)
      insert into totals_walk (name, at_merchant_id, at_id)
      select name, '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000'
      from unnest(array['payment', 'payout']) as name`);
    assert.equal(await isComplete(migrated.database.fork()), false);
    while (await walkOlder(pool(), 2));
    // Hours that had something and have nothing now are not made again.
    const { rows } = await pool().query<{ line: string }>(
      'select to_jsonb(t)::text as line from hourly_total as t order by 1',
    );
    for (const { line } of rows) assert.ok(once.includes(line), line);
    assert.deepEqual(await checkBooks(migrated.database), []);
  });
});

describe('a stranger', () => {
  test('whose events fill the log delays others by no more than their own batches', async () => {
    const [flood, mine] = [await migrated.merchant(), await migrated.merchant()];
    const { id } = await history.pay(flood, 100n);
    await pool().query(
      `insert into event (merchant_id, id, shop_id, mode, subject_id, created_at)
       select $1, gen_random_uuid(), $2, 'test', $3, now() from generate_series(1, 20000)`,
      [flood.merchantId, flood.shopId, id],
    );
    await history.pay(mine, 900n);
    await history.relay();
    const batches = await follow();
    assert.ok(batches <= 12, `${batches} batches`);
    assert.equal((await totalsOf(mine.merchantId))[0]?.moved, 900n);
    assert.equal((await totalsOf(flood.merchantId))[0]?.count, 1);
  });

  test('whose totals cannot be added to is left alone, and the others are counted', async () => {
    const [broken, mine] = [await migrated.merchant(), await migrated.merchant()];
    await history.pay(broken, 100n);
    await countAll();
    await pool().query(
      'update hourly_total set count_succeeded = 9223372036854775807 where merchant_id = $1',
      [broken.merchantId],
    );
    await history.pay(broken, 100n);
    await history.pay(mine, 900n);
    await history.relay();
    await follow();
    assert.equal((await totalsOf(mine.merchantId))[0]?.moved, 900n);
    const { rows } = await pool().query(
      `select 1 from consumer_retry where consumer = 'totals' and merchant_id = $1`,
      [broken.merchantId],
    );
    assert.ok(rows.length > 0);
    const { rows: raised } = await pool().query(
      `select 1 from alert where merchant_id = $1 and kind = 'dead_letter'`,
      [broken.merchantId],
    );
    assert.equal(raised.length, 1);
  });
});

describe('a year', () => {
  const year = randomUUID();
  /** Between two rows of the same kind. */
  const apart_h = size(4, 1);
  before(async () => {
    // As five million payments in three ways to pay, throughout a year, beside others of that size.
    await pool().query(
      `insert into hourly_total select whose.id, '00000000-0000-0000-0000-000000000000', 'live', 'RUB', part.kind,
         hour, part.method, part.bank, part.code, 0, 0, 0, 171, 19, 0, 0, 0, 0, 0, 0, 17100000, 1900000, 0, 0, 0, 17100000, 478800
       from generate_series(timestamptz '2025-01-01Z', timestamptz '2025-12-31 23:00Z', interval '${apart_h} hours') as hour
         cross join (values ($1::uuid), (gen_random_uuid()), (gen_random_uuid())) as whose (id)
         cross join (values ('payment', 'sbp', 'tbank', ''), ('payment', 'cards', 'tbank', ''), ('payment', 'cards', 'yookassa', ''),
           ('payment_failure', '', '', 'insufficient_funds'), ('payment_failure', '', '', 'declined')) as part (kind, method, bank, code)`,
      [year],
    );
    await pool().query('vacuum analyze hourly_total');
  });

  for (const groupBy of [null, 'status', 'method', 'bank', 'failure_code'] as const)
    test(`of 5,000,000 payments by ${groupBy ?? 'nothing'} reads its own hours alone, by the key`, async () => {
      const texts: { text: string; values: unknown[] }[] = [];
      const starts = Array.from({ length: 365 }, (_, day) =>
        Temporal.Instant.from('2025-01-01T00:00:00Z').add({ hours: day * 24 }),
      );
      const question = {
        merchantId: year,
        shopIds: null,
        mode: 'live',
        currency: 'RUB',
        of: 'payment',
        starts,
        to: Temporal.Instant.from('2026-01-01T00:00:00Z'),
        groupBy,
      } as const;
      const client = await pool().connect();
      const send = client.query.bind(client);
      client.query = ((sent: { text: string; values: unknown[] }) => {
        texts.push(sent);
        return send(sent);
      }) as typeof client.query;
      const parts = await readTotals(client, question);
      client.query = send;
      assert.equal(parts.length, 365);
      assert.ok(parts.every((rows) => rows.length > 0));
      const [sent] = texts;
      assert.ok(sent);
      const { rows } = await send<{ 'QUERY PLAN': string }>({
        text: `explain (analyze, buffers off) ${sent.text}`,
        values: sent.values,
      });
      client.release();
      const plan = rows.map((row) => row['QUERY PLAN']);
      const shown = plan.map((line) => line.slice(0, 90)).join('\n');
      const scans = plan.filter(
        (line) => / on [a-z_]+/.test(line) && !/Bitmap Index|(Function|Subquery) Scan/.test(line),
      );
      assert.ok(
        scans.length > 0 && scans.every((line) => line.includes(' on hourly_total')),
        shown,
      );
      assert.ok(!plan.some((line) => line.includes('Seq Scan')), shown);
      // Workers of a parallel plan read a part each.
      const read = plan.flatMap((line) => {
        const [, rows = '', loops = ''] =
          /on hourly_total .*actual .*rows=([\d.]+) loops=(\d+)/.exec(line) ?? [];
        return rows === '' ? [] : [Math.round(Number(rows) * Number(loops))];
      });
      const ways = groupBy === 'failure_code' ? 2 : 3;
      assert.equal(read[0], (8_760 / apart_h) * ways);
    });
});
