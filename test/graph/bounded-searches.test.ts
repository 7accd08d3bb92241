/** A search that finds nothing looks at no more rows than a narrowed list. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { parse } from 'graphql';
import { looked_max_rows } from '../../subgraphs/platform/database/lists.ts';
import { listDeliveries } from '../../subgraphs/merchants/list-cabinet.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import { scopes, type KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { openGraphHarness } from './harness.ts';
import { plant, type Planted } from './planted-rows.ts';

const many = 24_000;

let harness: Awaited<ReturnType<typeof openGraphHarness>>;
let plot: Planted;
let principal: KeyPrincipal;

/** Copies the merchant's row backwards in time, a second apart. */
const copy = (table: 'payment' | 'payout' | 'webhook_delivery'): Promise<unknown> =>
  harness.database.pool.query(
    `insert into ${table} select changed.* from ${table} as original, generate_series(1, $2::int) as copy(number),
       lateral jsonb_populate_record(original, jsonb_build_object('id', md5('${table}' || copy.number)::uuid, 'public_id', 'P-' || 900000 + copy.number,
         'created_at', original.created_at - copy.number * interval '1 second', 'amount', 20000 + copy.number) || $3::jsonb) as changed
     where original.merchant_id = $1`,
    [plot.id('merchant'), many, table === 'payment' ? { fee: 0, amount_refunded: 0 } : {}],
  );

before(async () => {
  harness = await openGraphHarness();
  plot = await plant(harness.database.pool, 'big', { merchant: randomUUID(), shop: randomUUID() });
  await copy('payment');
  await copy('payout');
  await copy('webhook_delivery');
  // The oldest alone has failed, in live mode.
  await harness.database.pool.query(
    `update webhook_delivery set status = case when created_at = oldest.at then 'failed' else 'delivered' end,
       mode = case when created_at = oldest.at then 'live' else 'test' end
     from (select min(created_at) as at from webhook_delivery where merchant_id = $1) as oldest where merchant_id = $1`,
    [plot.id('merchant')],
  );
  principal = {
    kind: 'key',
    keyId: '00000000-0000-4000-8000-00000000000a',
    merchantId: plot.id('merchant'),
    shopId: plot.id('shop'),
    mode: 'test',
    scopes,
  };
});
after(() => harness?.close());

interface Found {
  readonly nodes: readonly { readonly id: string }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** The days in which everything was made. */
const daysOf = async (table: 'payment' | 'payout') => {
  const { rows } = await harness.database.pool.query<{ from: string; to: string }>(
    `select to_char(min(created_at) at time zone 'UTC', 'YYYY-MM-DD') as from, to_char(max(created_at) at time zone 'UTC', 'YYYY-MM-DD') as to from ${table}`,
  );
  return rows[0] ?? assert.fail('nothing was planted');
};

const documentOf = (type: string, field: string) =>
  parse(
    `query ($search: ${type}!, $after: String) { found: ${field}(first: 1, search: $search, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }`,
  );
/** Planned once, so that searches of one moment run at one moment. */
const documents = {
  payment: documentOf('PaymentSearchInput', 'paymentSearch'),
  payout: documentOf('PayoutSearchInput', 'payoutSearch'),
};

const search = async (
  table: 'payment' | 'payout',
  criteria: object,
  behind: string | null = null,
): Promise<Found> => {
  const variables = { search: { ...(await daysOf(table)), ...criteria }, after: behind };
  const answer = await harness.supergraph.execute(
    { document: documents[table], variables },
    { principal, requestId: 'r', isInLane: true },
  );
  assert.equal(answer.errors, undefined, JSON.stringify(answer.errors));
  const { found }: { found: Found } = JSON.parse(JSON.stringify(answer.data));
  return found;
};

const tables = ['payment', 'payout'] as const;
for (const table of tables)
  describe(`a search of ${table}s without a match`, () => {
    test(`looks at ${looked_max_rows} rows, and its cursor continues`, async () => {
      const nobody = { cardMask: '0007' };
      const page = await search(table, nobody);
      assert.deepEqual(page.nodes, []);
      assert.equal(page.pageInfo.hasNextPage, true, 'there are rows that were not looked at');
      const rest = await search(table, nobody, page.pageInfo.endCursor);
      assert.deepEqual(rest, { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } });
    });

    test('finds what lies further back on the next page', async () => {
      const oldest = { amount: 20_000 + many };
      const page = await search(table, oldest);
      const { nodes } = await search(table, oldest, page.pageInfo.endCursor);
      assert.equal(page.nodes.length + nodes.length, 1);
    });
  });

describe('deliveries of a merchant', () => {
  const read = async (asked: Partial<Parameters<typeof listDeliveries>[1]>) => {
    const query = { merchantId: plot.id('merchant'), ...asked };
    const page = await listDeliveries(harness.database.pool, query);
    return isRefusal(page) ? assert.fail(page.message) : page;
  };

  /** How many the first page has, and how many the second. */
  const sizesOf = async (asked: Parameters<typeof read>[0]): Promise<readonly number[]> => {
    const { nodes, pageInfo } = await read(asked);
    assert.equal(pageInfo.hasNextPage, true, 'there are rows that were not looked at');
    const rest = await read({ ...asked, after: pageInfo.endCursor });
    assert.equal(rest.pageInfo.hasNextPage, false);
    return [nodes.length, rest.nodes.length];
  };

  test('of what is rare are looked for among as many, and found on the next page', async () => {
    assert.deepEqual(await sizesOf({ event: 'payout.failed' }), [0, 0]);
    assert.deepEqual(await sizesOf({ mode: 'live' }), [0, 1]);
  });

  test('that failed are found by their index', async () => {
    const { nodes, total } = await read({ status: 'failed' });
    assert.deepEqual([nodes.length, await total()], [1, { count: 1, isExact: true }]);
    assert.equal((await read({ status: 'failed', mode: 'test' })).nodes.length, 0);
  });
});
