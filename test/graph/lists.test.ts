/**
 * Lists that people narrow: of one merchant, or of all for the platform's operators. What no index
 * helps with is looked for in bounded steps.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { parse } from 'graphql';
import {
  scopes,
  type OperatorPrincipal,
  type Principal,
} from '../../subgraphs/platform/access/principal.ts';
import { type ListRequest, looked_max_rows } from '../../subgraphs/platform/database/lists.ts';
import type { Runner } from '../../subgraphs/platform/database/statement.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import { pageOfPayments } from '../../subgraphs/payments/find-payments.ts';
import type pg from 'pg';
import { isLong, size } from '../support/size.ts';
import { openGraphHarness } from './harness.ts';
import { plant, plantMany, type Planted } from './planted-rows.ts';

const many = size(24_000, 45_000);

let harness: Awaited<ReturnType<typeof openGraphHarness>>;
let big: Planted;
let small: Planted;

/** Copies a payment backwards in time, a second apart: one of a thousand failed. */
const payments = `insert into payment select changed.* from payment as original, generate_series(1, $2::int) as copy(number),
  lateral jsonb_populate_record(original, jsonb_build_object('id', md5('list' || copy.number)::uuid, 'public_id', 'P-' || 900000 + copy.number,
    'created_at', original.created_at - copy.number * interval '1 second', 'amount', 20000 + copy.number, 'amount_refunded', case when copy.number % 1000 = 500 then 100 else 0 end, 'fee', 0,
    'mode', case when copy.number % 2 = 0 then 'live' else 'test' end, 'status', case when copy.number % 1000 = 0 then 'failed' else 'succeeded' end,
    'failure_code', case when copy.number = $2::int then 'three_ds_failed' end)) as changed
  where original.merchant_id = $1`;

before(async () => {
  harness = await openGraphHarness();
  const { pool } = harness.database;
  big = await plant(pool, 'big', { merchant: randomUUID(), shop: randomUUID() });
  small = await plantMany(pool, 'small', 6, 0);
  await pool.query(payments, [big.id('merchant'), many]);
  await pool.query('analyze payment');
});
after(() => harness?.close());

const person = (merchantId: string | null): Principal => ({
  kind: 'operator',
  subject: 'o',
  role: 'viewer',
  merchantId,
});
const key = (plot: Planted): Principal => ({
  kind: 'key',
  keyId: '00000000-0000-4000-8000-00000000000a',
  merchantId: plot.id('merchant'),
  shopId: plot.id('shop'),
  mode: 'test',
  scopes,
});

interface List {
  readonly nodes: readonly {
    readonly id: string;
    readonly merchantId?: string;
    readonly amount: number;
  }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly endCursor: string | null;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
  };
  readonly totalCount?: { readonly count: number; readonly isExact: boolean };
}

const pageFields = 'pageInfo { hasNextPage endCursor hasPreviousPage startCursor }';
const paymentsDocument = parse(
  `query ($filter: PaymentFilter, $status: [PaymentStatus!], $merchantId: ID, $first: Int, $after: String, $last: Int, $before: String, $total: Boolean! = false) {
    list: payments(filter: $filter, status: $status, merchantId: $merchantId, first: $first, after: $after, last: $last, before: $before)
    { nodes { id merchantId amount } ${pageFields} totalCount @include(if: $total) { count isExact } } }`,
);

const ask = async (
  document: ReturnType<typeof parse>,
  principal: Principal,
  variables: Record<string, unknown>,
): Promise<List | string> => {
  const { data, errors } = await harness.supergraph.execute(
    { document, variables },
    { principal, requestId: 'r', isInLane: true },
  );
  if (errors) return String(errors[0]?.extensions['code']);
  const { list }: { list: List } = JSON.parse(JSON.stringify(data));
  return list;
};

const read = async (principal: Principal, variables: Record<string, unknown>): Promise<List> => {
  const list = await ask(paymentsDocument, principal, variables);
  return typeof list === 'string' ? assert.fail(list) : list;
};

/** Every page of a query, and how many there were. */
const walk = async (
  principal: Principal,
  variables: Record<string, unknown>,
  backwards = false,
) => {
  const ids: string[] = [];
  let pages = 0;
  let cursor: string | null = null;
  do {
    const page: List = await read(principal, {
      ...variables,
      ...(backwards ? { last: 100, before: cursor } : { first: 100, after: cursor }),
    });
    ids.push(...page.nodes.map(({ id }) => id));
    const { hasNextPage, endCursor, hasPreviousPage, startCursor } = page.pageInfo;
    cursor = backwards ? (hasPreviousPage ? startCursor : null) : hasNextPage ? endCursor : null;
    pages += 1;
  } while (cursor !== null && pages < 100);
  return { ids, pages };
};

const inDatabase = async (where: string, values: readonly unknown[] = []): Promise<string[]> => {
  const { rows } = await harness.database.pool.query<{ id: string }>(
    `select id from payment where ${where}`,
    [...values],
  );
  return rows.map(({ id }) => id).toSorted();
};

describe('who reads what', () => {
  test('an operator reads all merchants, in live mode unless the filter says otherwise', async () => {
    const everybody = person(null);
    const live = await read(everybody, { first: 5 });
    assert.ok(live.nodes.length === 5 && live.pageInfo.hasNextPage);
    const both = await read(everybody, { first: 10, filter: { mode: ['test', 'live'] } });
    const merchants = new Set(both.nodes.map(({ merchantId }) => merchantId));
    assert.deepEqual(merchants, new Set([big.id('merchant'), small.id('merchant')]));
  });

  test('a cabinet user and a key read their own alone, whatever the filter says', async () => {
    const filter = { mode: ['test', 'live'], shopId: [big.id('shop')] };
    const wide = { mode: ['test', 'live'] };
    const [merchant, mine] = [
      small.id('merchant'),
      await inDatabase('merchant_id = $1', [small.id('merchant')]),
    ];
    for (const who of [person(merchant), key(small)]) {
      assert.deepEqual((await read(who, { filter })).nodes, []);
      const own = await read(who, { filter: wide, total: true });
      assert.deepEqual(own.nodes.map(({ id }) => id).toSorted(), mine);
      assert.deepEqual(own.totalCount, { count: mine.length, isExact: true });
    }
    assert.equal(
      await ask(paymentsDocument, person(merchant), { merchantId: big.id('merchant') }),
      'not_found',
    );
    assert.deepEqual((await read(key(small), { filter: { mode: ['live'] } })).nodes, []);
  });
});

describe('what is narrowed', () => {
  const cases: Readonly<Record<string, readonly [object, string]>> = {
    'by amounts': [
      { amountFrom: 20_100, amountTo: 20_130 },
      `amount between 20100 and 20130 and mode = 'live'`,
    ],
    'by mode and amounts': [
      { mode: ['test'], amountFrom: 20_100, amountTo: 20_130 },
      `amount between 20100 and 20130 and mode = 'test'`,
    ],
    'by an unused method': [{ method: ['sbp'] }, 'false'],
    'by a failure code': [
      { failureCode: ['three_ds_failed'] },
      `failure_code = 'three_ds_failed' and mode = 'live'`,
    ],
    'of the paid ones by a part that was refunded': [
      { partlyRefunded: true },
      `(status <> 'succeeded' or amount_refunded > 0) and mode = 'live'`,
    ],
  };
  const reaches = ['everybody', 'one merchant', 'one shop'] as const;
  for (const [row, [what, [filter, where]]] of Object.entries(cases).entries())
    for (const [column, whose] of reaches.entries())
      // For every change each filter has both directions, and so has each reach.
      for (const backwards of isLong ? [false, true] : [(row + column) % 2 === 1])
        test(`${what}, of ${whose}, ${backwards ? 'backwards' : 'forwards'}`, async (t) => {
          const merchantId = whose === 'everybody' ? null : big.id('merchant');
          const shop = whose === 'one shop' ? { shopId: [big.id('shop')] } : {};
          const expected = await inDatabase(where);
          const variables = { merchantId, filter: { ...filter, ...shop } };
          const { ids, pages } = await walk(person(null), variables, backwards);
          t.diagnostic(`${pages} pages`);
          assert.deepEqual(ids.toSorted(), expected);
          assert.ok(pages <= Math.ceil(many / looked_max_rows) + 2, `${pages} pages`);
        });

  test('by status and hours, where an index has the status', async () => {
    const { pool } = harness.database;
    const { rows } = await pool.query<{ since: string; until: string }>(
      `select to_json(max(created_at) - interval '5 hours') as since, to_json(max(created_at) - interval '1 hour') as until from payment where merchant_id = $1`,
      [big.id('merchant')],
    );
    const [hours] = rows;
    assert(hours);
    const filter = { since: hours.since, until: hours.until };
    const expected = await inDatabase(
      `status = 'failed' and mode = 'live' and created_at >= $1 and created_at < $2`,
      [hours.since, hours.until],
    );
    assert.ok(expected.length > 5);
    for (const merchantId of [null, big.id('merchant')]) {
      const variables = { merchantId, filter, status: ['failed'] };
      assert.deepEqual((await walk(person(null), variables)).ids.toSorted(), expected);
      assert.deepEqual((await walk(person(null), variables, true)).ids.toSorted(), expected);
      const { totalCount } = await read(person(null), { ...variables, total: true });
      assert.deepEqual(totalCount, { count: expected.length, isExact: true });
    }
  });

  test('what an index has in its order is not read from the beginning', async () => {
    const { pool } = harness.database;
    const scans = async (): Promise<unknown> => {
      // Each session reports what it has counted, also what the tests before have left.
      const sessions = await Promise.all(
        Array.from({ length: pool.options.max }, () => pool.connect()),
      );
      for (const session of sessions) await session.query('select pg_stat_force_next_flush()');
      for (const session of sessions) session.release();
      const { rows } = await pool.query(
        `select seq_scan from pg_stat_user_tables where relname = 'payment'`,
      );
      return rows[0].seq_scan;
    };
    const before = await scans();
    for (const merchantId of [null, big.id('merchant')])
      await read(person(null), { merchantId, filter: { mode: ['test'] }, first: 5 });
    assert.equal(await scans(), before);
  });
});

test('a total is exact up to 10,000', async () => {
  const all = await read(person(null), { total: true, first: 1 });
  assert.deepEqual(all.totalCount, { count: 10_000, isExact: false });
  const some = await read(person(null), {
    total: true,
    first: 1,
    merchantId: big.id('merchant'),
    filter: { amountFrom: 20_001, amountTo: 20_100 },
  });
  assert.deepEqual(some.totalCount, { count: 50, isExact: true });
});

test('what cannot be is refused', async () => {
  const refusedBy = (filter: object) => ask(paymentsDocument, person(null), { filter });
  assert.equal(await refusedBy({ shopId: ['x'] }), 'bad_request');
  assert.equal(await refusedBy({ amountFrom: 2, amountTo: 1 }), 'bad_request');
  const [since, until] = ['2026-02-01T00:00:00Z', '2026-01-01T00:00:00Z'];
  assert.equal(await refusedBy({ since, until }), 'bad_request');
});

describe('the other lists of all merchants', () => {
  const lists: Readonly<Record<string, readonly [query: string, table: string]>> = {
    refunds: ['refunds(filter: { mode: [test], amountFrom: 1 })', 'refund'],
    payouts: ['payouts(filter: { mode: [test] }, method: [payouts_sbp])', 'payout'],
    drafts: ['payoutDrafts(filter: { mode: [test] }, status: [rejected])', 'payout_draft'],
    subscriptions: [
      'billingSubscriptionsConnection(filter: { mode: [test], status: [active] })',
      'subscription',
    ],
    'failed deliveries': ['webhookDeliveries(event: payment_succeeded)', 'webhook_delivery'],
    movements: ['ledger(filter: { mode: [test], type: [refund, payout] })', 'posting'],
  };
  for (const [what, [query, table]] of Object.entries(lists))
    test(`${what} are of all for an operator, of one for a cabinet user`, async () => {
      const { pool } = harness.database;
      await pool.query(
        `begin; set local session_replication_role = replica; update posting set type = 'refund'; commit`,
      );
      const document = parse(
        `{ list: ${query} { nodes { id } ${pageFields} totalCount { count isExact } } }`,
      );
      const { rows } = await pool.query<{ count: number; own: number }>(
        `select count(*)::int as count, count(*) filter (where merchant_id = $1)::int as own from ${table}`,
        [small.id('merchant')],
      );
      const [{ count, own } = assert.fail()] = rows;
      assert.ok(own > 0 && count > own);
      const all = await ask(document, person(null), {});
      const mine = await ask(document, person(small.id('merchant')), {});
      assert(typeof all !== 'string' && typeof mine !== 'string');
      assert.deepEqual([all.nodes.length, all.totalCount], [count, { count, isExact: true }]);
      assert.deepEqual([mine.nodes.length, mine.totalCount], [own, { count: own, isExact: true }]);
    });

  test('deliveries that did not fail are listed of one merchant alone', async () => {
    const document = parse(`{ list: webhookDeliveries(status: pending) { nodes { id } } }`);
    assert.equal(await ask(document, person(null), {}), 'bad_request');
  });
});

describe('over all merchants of sharded tables', () => {
  const everybody = { ...person(null), kind: 'operator' } as OperatorPrincipal;
  /** The pool, as one whose tables are sharded. */
  const spread = (): Runner => {
    const { pool } = harness.database;
    const query = (asked: { readonly name?: string }) =>
      asked.name === 'database.is_spread'
        ? Promise.resolve({ rows: [{ isSharded: true }] })
        : pool.query(asked as pg.QueryConfig);
    return { query } as unknown as pg.PoolClient;
  };
  /** All that a query's pages have, with the number of pages and the total. */
  const turn = async (runner: Runner, request: ListRequest, backwards: boolean) => {
    const ids: string[] = [];
    let cursor: string | null = null;
    let pages = 0;
    for (;;) {
      const place = backwards ? { last: 100, before: cursor } : { first: 100, after: cursor };
      const page = await pageOfPayments(runner, everybody, { ...request, ...place });
      if (isRefusal(page)) return assert.fail(page.message);
      ids.push(...page.nodes.map(({ id }) => id));
      pages += 1;
      const { hasNextPage, endCursor, hasPreviousPage, startCursor } = page.pageInfo;
      cursor = backwards ? (hasPreviousPage ? startCursor : null) : hasNextPage ? endCursor : null;
      if (cursor === null) return { ids, pages, total: await page.total?.() };
    }
  };

  test('the same rows are listed as in one database, in the same pages', async () => {
    const day = Temporal.Now.instant().add({ hours: 24 });
    const asked: Readonly<Record<string, ListRequest>> = {
      'a rare status of both modes': { modes: ['live', 'test'], columns: { status: ['failed'] } },
      'an amount': { columns: {}, filter: { mode: ['live'], amountFrom: BigInt(15_000 + many) } },
      'a shop and a time': {
        columns: {},
        filter: { mode: ['test'], shopId: [small.id('shop')], until: day },
      },
    };
    for (const [name, request] of Object.entries(asked)) {
      for (const backwards of [false, true]) {
        const [one, apart] = [
          await turn(harness.database.pool, request, backwards),
          await turn(spread(), request, backwards),
        ];
        assert.ok(one.ids.length > 0, name);
        assert.deepEqual(apart.ids, one.ids, name);
        assert.ok(apart.pages <= one.pages + 1, `${name}: ${apart.pages} pages, not ${one.pages}`);
        assert.equal(apart.total?.isExact, one.total?.isExact, name);
      }
    }
  });
});
