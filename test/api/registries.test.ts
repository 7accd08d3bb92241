import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { Mode } from '../../subgraphs/rules/mode.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import { noPolicies } from '../support/no-policies.ts';
import { looked_max_rows, exactly } from '../../subgraphs/platform/database/lists.ts';
import {
  cursorOf,
  pageRange,
  spanOf,
  type PageQuery,
} from '../../subgraphs/platform/database/keyset.ts';
import {
  pageText,
  type ListedTable,
  type ListQuery,
} from '../../subgraphs/platform/database/list-statements.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { ledgerColumns, ledgerTable } from '../../subgraphs/merchants/ledger/read-ledger.ts';
import { cancelPayment } from '../../subgraphs/payments/cancel-payment.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import type { Payment } from '../../subgraphs/payments/entities.ts';
import { pageOfPayments } from '../../subgraphs/payments/find-payments.ts';
import { paymentStatuses } from '../../subgraphs/payments/rules/payment.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { size } from '../support/size.ts';
import { plantPayments, plantPostings } from './planted-registry.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

/** A key of a shop in the first of these modes, with the rows of the second. */
const readerOf = (key: KeyPrincipal, [mode, ...others]: readonly [Mode, ...Mode[]]) => ({
  principal: { ...key, mode },
  includeTest: others.length > 0,
});
type Reader = ReturnType<typeof readerOf>;

interface Asked extends PageQuery {
  readonly status?: readonly string[] | null;
  readonly from?: string | null;
  readonly to?: string | null;
}

const list = ({ principal, includeTest }: Reader, { status = null, ...page }: Asked) =>
  pageOfPayments(migrated.database.pool, principal, { ...page, includeTest, columns: { status } });

/** All pages of a query, one after another. `between` runs before each but the first. */
const pages = async (
  reader: Reader,
  asked: Asked,
  between: () => Promise<unknown> = async () => {},
): Promise<readonly Payment[]> => {
  const rows: Payment[] = [];
  let cursor: string | null = null;
  do {
    const found: Awaited<ReturnType<typeof list>> = await list(reader, { ...asked, after: cursor });
    if (isRefusal(found)) throw new Error(found.message);
    rows.push(...found.nodes);
    cursor = found.pageInfo.endCursor;
    if (cursor !== null) await between();
  } while (cursor !== null);
  return rows;
};

describe('pages that are read while rows are inserted and change status', () => {
  const rowsBefore = 400;
  const readers: readonly Asked[] = [
    { first: 7 },
    { first: 11, status: ['pending', 'cancelled'] },
    { first: 3, status: ['cancelled', 'pending', 'failed'] },
    { first: 200, status: paymentStatuses },
    { first: 13, from: '2026-11-01' },
  ];

  test('hold every row that existed at the first page exactly once, and no row twice', async () => {
    const key = await migrated.merchant();
    const { database } = migrated;
    const now = Temporal.Instant.from('2026-11-21T12:00:00Z');
    // Four rows share each moment, so that pages end between rows of one moment.
    await plantPayments(database.pool, key, 'test', rowsBefore, {
      status: `'pending'`,
      at: `timestamptz '2026-11-21 10:00:00Z' + n / 4 * interval '1 ms'`,
    });
    const reader = readerOf(key, ['test']);
    const existing = (await pages(reader, { first: 200 })).map(({ id }) => id);
    assert.equal(existing.length, rowsBefore);
    const reading = new AbortController();
    let written = 0;
    const write = async (lane: number): Promise<void> => {
      for (let index = lane; !reading.signal.aborted; index += 4) {
        await recordPayment(
          database,
          noPolicies,
          key,
          { input: { amount: 100n } },
          now.add({ milliseconds: index }),
        );
        const id = existing[index % existing.length];
        if (id !== undefined) await cancelPayment(database, key, id, now);
        written += 1;
      }
    };
    const writers = [0, 1, 2, 3].map(write);
    const read = await Promise.all(
      readers.map((asked) => pages(reader, asked, () => new Promise(setImmediate))),
    ).finally(() => reading.abort());
    await Promise.all(writers);
    assert.ok(written > 20, `only ${written} rows were written meanwhile`);
    read.forEach((rows, index) => {
      const ids = rows.map(({ id }) => id);
      assert.equal(new Set(ids).size, ids.length, `reader ${index} saw a row twice`);
      const old = new Set(existing);
      assert.deepEqual(
        ids.filter((id) => old.has(id)),
        existing,
        `reader ${index} missed a row, or saw them in another order`,
      );
    });
  });

  test('are the same in the same order when they are walked back', async () => {
    const key = await migrated.merchant();
    const { database } = migrated;
    await plantPayments(database.pool, key, 'test', 60, {
      status: `case when n % 3 = 0 then 'failed' else 'pending' end`,
      at: `timestamptz '2026-11-21 10:00:00Z' + n / 4 * interval '1 ms'`,
    });
    const reader = readerOf(key, ['test']);
    let at = Temporal.Instant.from('2026-11-21T12:00:00Z');
    const insert = async (): Promise<void> => {
      at = at.add({ seconds: 1 });
      await recordPayment(database, noPolicies, key, { input: { amount: 100n } }, at);
    };
    const queries: readonly Asked[] = [
      { first: 7 },
      { first: 7, status: ['pending'] },
      { first: 4, status: ['failed', 'pending'], from: '2026-11-21', to: '2026-11-21' },
    ];
    for (const { first: size, ...query } of queries) {
      const there = await pages(reader, { ...query, first: size }, insert);
      const back: Payment[] = [];
      const sizes: number[] = [];
      for (let before: string | null = null, more = true; more;) {
        const page: Awaited<ReturnType<typeof list>> = await list(reader, {
          ...query,
          last: size ?? null,
          before,
        });
        if (isRefusal(page)) assert.fail(page.message);
        assert.equal(page.pageInfo.hasNextPage, before !== null);
        back.unshift(...page.nodes);
        sizes.push(page.nodes.length);
        before = page.pageInfo.startCursor;
        more = page.pageInfo.hasPreviousPage;
        if (more) await insert();
      }
      const idsOf = (rows: readonly Payment[]) => rows.map(({ id }) => id);
      const old = new Set(idsOf(there));
      assert.equal(new Set(idsOf(back)).size, back.length, 'no row twice');
      assert.deepEqual(
        idsOf(back).filter((id) => old.has(id)),
        idsOf(there),
      );
      assert.ok(
        sizes.slice(0, -1).every((rows) => rows === size),
        sizes.join(),
      );
    }
  });

  test('of one status hold what has that status all along exactly once', async () => {
    const key = await migrated.merchant();
    const { database } = migrated;
    await plantPayments(database.pool, key, 'test', 120, {
      status: `'pending'`,
      at: `timestamptz '2026-11-21 10:00:00Z' + n / 3 * interval '1 ms'`,
    });
    const reader = readerOf(key, ['test']);
    const existing = await pages(reader, { first: 200 });
    const leaving = existing.filter((_, index) => index % 3 === 1).map(({ id }) => id);
    const staying = existing.filter((_, index) => index % 3 !== 1).map(({ id }) => id);
    const queue = [...leaving];
    const now = Temporal.Instant.from('2026-11-21T10:01:00Z');
    const cancelNext = () =>
      Promise.all(queue.splice(0, 3).map((id) => cancelPayment(database, key, id, now)));
    const ids = (await pages(reader, { first: 5, status: ['pending'] }, cancelNext)).map(
      ({ id }) => id,
    );
    assert.deepEqual(
      ids.filter((id) => staying.includes(id)),
      staying,
    );
    assert.equal(new Set(ids).size, ids.length);
  });
});

describe('filters', () => {
  const days = ['2026-11-19', '2026-11-20', '2026-11-21'] as const;
  let key: KeyPrincipal;
  let all: readonly Payment[];
  before(async () => {
    key = await migrated.merchant('live');
    const names = `(array[${paymentStatuses.map((status) => `'${status}'`).join(', ')}])[1 + n % ${paymentStatuses.length}]`;
    // The first and the last moment of each day, and one in between.
    const at = `timestamptz '2026-11-19 00:00:00Z' + n / 3 % 3 * interval '1 day' + (array['0 s', '12 h', '23:59:59.999'])[1 + n % 3]::interval`;
    for (const mode of ['live', 'test'] as const)
      await plantPayments(migrated.database.pool, key, mode, 90, { status: names, at });
    all = await pages(readerOf(key, ['live', 'test']), { first: 200 });
    assert.equal(all.length, 180);
  });

  const lists: readonly (readonly string[] | null)[] = [
    null,
    ['failed'],
    ['refunded', 'pending'],
    ['pending', 'pending'],
    [...paymentStatuses],
    [],
  ];
  const spans = [
    [null, null],
    [days[1], null],
    [null, days[1]],
    [days[1], days[1]],
    [days[0], days[2]],
    ['2027-01-01', null],
  ] as const;
  for (const modes of [['live'], ['live', 'test']] as const) {
    for (const status of lists) {
      test(`${modes.join(' and ')}, ${status ? `status ${status.join(',') || 'none'}` : 'any status'}, over UTC days inclusive at both ends`, async () => {
        for (const [from, to] of spans) {
          const expected = all.filter(
            (payment) =>
              modes.some((mode) => mode === payment.mode) &&
              (status === null || status.includes(payment.status)) &&
              payment.createdAt.toString() >= `${from ?? '2000-01-01'}T00:00:00Z` &&
              payment.createdAt.toString().slice(0, 10) <= (to ?? '9999-12-31'),
          );
          const found = await pages(readerOf(key, modes), { status, from, to, first: 17 });
          assert.deepEqual(
            found.map(({ id }) => id),
            expected.map(({ id }) => id),
            `${from} to ${to}`,
          );
        }
      });
    }
  }

  test('bind the cursor: it is refused with another status, day or mode, and holds whatever the order of the statuses', async () => {
    const ask = (
      asked: Asked,
      after: string | null,
      modes: readonly [Mode, ...Mode[]] = ['live'],
    ) => list(readerOf(key, modes), { first: 2, after, ...asked });
    const first = await ask({ status: ['failed', 'pending'] }, null);
    assert.ok(!isRefusal(first) && first.pageInfo.endCursor !== null);
    const { endCursor } = first.pageInfo;
    assert.ok(!isRefusal(await ask({ status: ['pending', 'failed'] }, endCursor)));
    for (const other of [
      { status: ['failed'] },
      {},
      { status: ['failed', 'pending'], from: days[0] },
    ])
      assert.ok(isRefusal(await ask(other, endCursor)));
    assert.ok(isRefusal(await ask({ status: ['failed', 'pending'] }, endCursor, ['live', 'test'])));
  });
});

describe('a page of what is rare among many', () => {
  const many = size(8_000, 20_000);
  let key: KeyPrincipal;
  before(async () => {
    key = await migrated.merchant('live');
    const { pool } = migrated.database;
    const at = `timestamptz '2026-11-21 10:00:00Z' + n * interval '1 s'`;
    await plantPayments(pool, key, 'live', many, {
      status: `case when n % ${many / 4} = 7 then 'failed' else 'succeeded' end`,
      at,
      customer: `case when n % 10 = 7 then 'order-' || n else 'guest' end`,
    });
    await plantPostings(pool, key, 'live', many, {
      type: `case when n % ${many / 4} = 7 then 'settlement' else 'payment' end`,
      from: `'suspense'`,
      to: `'merchant'`,
      at,
    });
    await pool.query('analyze payment, posting');
  });

  /** A page of the live rows of the shop. */
  const textOf = (
    listed: ListedTable,
    { columns = {}, rows = [], from, to, ...page }: Partial<ListQuery> & Asked,
  ) => {
    const [range, span] = [pageRange(page, null), spanOf(from, to)];
    assert.ok(!isRefusal(range) && !isRefusal(span));
    const { merchantId, shopId } = key;
    const reach = { merchantId, shopIds: [shopId], modes: ['live'] } as const;
    const query: ListQuery = { page, reach, span, columns, rows, asked: null };
    return pageText(listed, query, { range, walk: looked_max_rows, isOverShards: false });
  };

  /** Blocks that a page touches, with the plan that serves all values. */
  const blocksOf = async (...asked: Parameters<typeof textOf>): Promise<number> => {
    const { text, values } = textOf(...asked);
    const client = await migrated.database.pool.connect();
    try {
      await client.query('set plan_cache_mode = force_generic_plan');
      await client.query(`prepare page as ${text}`);
      const literals = values.map((value) =>
        client.escapeLiteral(Array.isArray(value) ? `{${value.join(',')}}` : String(value)),
      );
      // The first run of a session reads the catalogs, and more of them after a change elsewhere.
      await client.query(`execute page(${literals.join(', ')})`);
      const { rows } = await client.query<{
        'QUERY PLAN': readonly { readonly Plan: Readonly<Record<string, number>> }[];
      }>(`explain (analyze, buffers, format json) execute page(${literals.join(', ')})`);
      const plan = rows[0]?.['QUERY PLAN'][0]?.Plan ?? {};
      return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
    } finally {
      client.release(true);
    }
  };
  const payments: ListedTable = {
    table: { name: 'payment', filters: { status: paymentStatuses } },
    columns: 'id, created_at as "createdAt", status',
  };

  test('touches about as many blocks as any page', async () => {
    const whole = await blocksOf(payments, {});
    assert.ok(whole > 0 && whole < 100, `a page without a filter touches ${whole} blocks`);
    for (const status of [
      ['failed'],
      ['failed', 'expired', 'cancelled'],
      ['refunded'],
      ['failed', 'succeeded'],
    ]) {
      const blocks = await blocksOf(payments, { columns: { status } });
      assert.ok(
        blocks > 0 && blocks < whole + 100,
        `${status.join()} touches ${blocks} blocks, a page without a filter ${whole}`,
      );
    }
  });

  test('of an order or a customer: a few blocks, however many rows the merchant or the customer has', async () => {
    for (const [column, value] of [
      ['order_id', 'order-77'],
      ['order_id', 'order-none'],
      ['customer_id', 'order-77'],
      ['customer_id', 'nobody'],
      ['customer_id', 'guest'],
    ] as const) {
      const blocks = await blocksOf(payments, { rows: [exactly(`payment.${column}`, value)] });
      assert.ok(blocks > 0 && blocks < 100, `${column} ${value}: ${blocks} blocks`);
    }
  });

  test('of the ledger too', async () => {
    const ledger = { table: ledgerTable, columns: ledgerColumns };
    const whole = await blocksOf(ledger, {});
    const rare = await blocksOf(ledger, { columns: { type: ['settlement'] } });
    assert.ok(whole > 0 && whole < 100 && rare > 0 && rare < 100, `${whole} and ${rare} blocks`);
  });

  test('and a page far behind the first, or of days long ago, touches no more than the first', async () => {
    const oldest = { createdAt: Temporal.Instant.from('2026-11-21T10:02:00Z'), id: key.merchantId };
    const cursor = cursorOf(oldest, null);
    const columns = { status: ['succeeded'] };
    const queries = {
      deep: { after: cursor },
      'deep of one status': { after: cursor, columns },
      'back from the deep': { last: 50, before: cursor },
      'back from the deep in one status': { last: 50, before: cursor, columns },
      last: { last: 50 },
      'long ago': { from: '2020-01-01', to: '2026-11-21' },
    };
    for (const [name, query] of Object.entries(queries)) {
      const blocks = await blocksOf(payments, query);
      assert.ok(blocks > 0 && blocks < 100, `${name}: ${blocks} blocks`);
    }
  });
});
