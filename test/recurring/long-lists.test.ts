/**
 * `GET /tokens` and `GET /subscriptions` over more rows than a process may hold: read in pages,
 * answered as one list.
 */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startTestDatabase, type TestDatabase } from '../support/database.ts';
import { askGraph, makeMerchant, type Merchant } from '../support/merchant.ts';
import { startService, type Service } from '../support/service.ts';
import { size } from '../support/size.ts';

const rows = size(25_000, 200_000);
const customers = size(25_000, 50_000);
/**
 * MiB for all objects of the process, which needs about 90 without a call. 200,000 rows at once are
 * 71 MiB of JSON and 300 MiB of objects: it would not live.
 */
const heap_MiB = 224;
const pool = 3;

let database: TestDatabase;
let service: Service;
let client: pg.Client;
let merchant: Merchant;

/** Rows made by SQL, seven of them in each millisecond. The newest is number 1. */
const insert = async (count: number, newest: string): Promise<void> => {
  const at = `timestamptz '${newest}' - make_interval(secs => (i / 7) / 1000.0)`;
  const own = [merchant.id, merchant.shopId];
  await client.query(
    `insert into token (merchant_id, id, shop_id, mode, customer_ref, method, status, created_at)
      select $1, gen_random_uuid(), $2, 'test', 'customer-' || (i % ${customers}), 'cards', 'pending', ${at} from generate_series(1, ${count}) as i`,
    own,
  );
  await client.query(
    `insert into subscription (merchant_id, id, shop_id, mode, customer_ref, amount, currency, method, period, interval_count, trial_days, status, created_at,
        token_id, periods, failures, version)
      select $1, gen_random_uuid(), $2, 'test', 'customer', 100, 'RUB', 'cards', 'month', 1, 0, 'pending', ${at}, gen_random_uuid(), 0, 0, 1
      from generate_series(1, ${count}) as i`,
    own,
  );
};

const idsInOrder = async (table: string): Promise<string[]> => {
  const found = await client.query<{ id: string }>(
    `select id from ${table} where merchant_id = $1 order by created_at desc, id desc`,
    [merchant.id],
  );
  return found.rows.map(({ id }) => id);
};

before(async () => {
  database = await startTestDatabase({ migrated: true });
  service = await startService('one', {
    DATABASE_URL: database.url,
    SECRET_KEY: randomBytes(32).toString('base64'),
    DATABASE_POOL: String(pool),
    NODE_OPTIONS: `--max-old-space-size=${heap_MiB}`,
  });
  merchant = await makeMerchant(service);
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await insert(rows, '2026-05-06T10:00:00Z');
  await client.query('analyze token, subscription');
});
after(async () => {
  await client?.end();
  await service?.stop();
  await database?.stop();
});

const open = async (path: string): Promise<IncomingMessage> => {
  const headers = { authorization: `Bearer ${merchant.key}` };
  const [response] = (await once(
    get(`${service.rest}/v1/public${path}`, { headers, agent: false }),
    'response',
  )) as [IncomingMessage];
  return response;
};

const read = async (response: IncomingMessage): Promise<any> => {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString());
};

describe(`a list of ${rows} rows`, () => {
  for (const table of ['token', 'subscription'] as const) {
    test(`of ${table}s is whole, each once and newest first, while others are made and while others call`, async () => {
      const expected = await idsInOrder(table);
      assert.ok(expected.length >= rows);
      const response = await open(`/${table}s`);
      assert.match(response.headers['content-type'] ?? '', /^application\/json/);
      const reading = new AbortController();
      let answered = 0;
      const others = (async () => {
        for (; !reading.signal.aborted; answered += 1) {
          assert.equal((await fetch(`${service.rest}/healthz`)).status, 200);
          await sleep(5);
        }
      })();
      const inserting = insert(500, '2026-05-06T10:00:00Z').then(() =>
        insert(500, '2026-05-07T10:00:00Z'),
      );
      const { items } = await read(response);
      reading.abort();
      await Promise.all([others, inserting]);
      // It has a page for 250 rows, and room between any two of them.
      assert.ok(answered > rows / 4_000, `${answered} calls were answered while the list was`);
      const ids: string[] = items.map(({ id }: { id: string }) => id);
      assert.equal(new Set(ids).size, ids.length, 'no row comes twice');
      const known = new Set(expected);
      assert.deepEqual(
        ids.filter((id) => known.has(id)),
        expected,
        'no row that was there is missing or out of its place',
      );
    });
  }

  test('of one customer’s tokens holds that customer’s alone', async () => {
    const { items } = await read(await open('/tokens?customer_ref=customer-20000'));
    assert.deepEqual(
      [items.length, new Set(items.map(({ customer_ref }: any) => customer_ref))],
      [rows / customers, new Set(['customer-20000'])],
    );
  });

  test('holds no connection of the database for readers that do not read, and a merchant has 16 of them', async () => {
    const slow = await Promise.all(Array.from({ length: 16 }, () => open('/tokens')));
    assert.deepEqual(
      slow.map(({ statusCode }) => statusCode),
      slow.map(() => 200),
    );
    // More calls at a time than the pool has connections.
    const balances = await Promise.all(
      Array.from({ length: pool * 4 }, () => merchant.call('GET', '/balance')),
    );
    assert.deepEqual([...new Set(balances.map(({ status }) => status))], [200]);
    const refused = await open('/subscriptions');
    assert.deepEqual([refused.statusCode, Number(refused.headers['retry-after']) > 0], [429, true]);
    assert.equal((await read(refused)).error.code, 'rate_limited');
    assert.equal(
      (await merchant.call('GET', '/tokens?customer_ref=customer-20000')).status,
      200,
      'a list of one page is no long answer',
    );
    for (const response of slow) response.destroy();
  });

  test('is refused as a whole by the graph, which has pages of it', async () => {
    const whole = askGraph(service, '{ tokens { id } }', {}, merchant.key);
    await assert.rejects(whole, /tokensConnection/);
    await assert.rejects(
      askGraph(service, '{ billingSubscriptions { id } }', {}, merchant.key),
      /billingSubscriptionsConnection/,
    );
    const page =
      'query ($a: String) { list: tokensConnection(first: 500, after: $a) { nodes { id } pageInfo { hasNextPage endCursor } } }';
    const { list } = await askGraph(service, page, {}, merchant.key);
    const next = await askGraph(service, page, { a: list.pageInfo.endCursor }, merchant.key);
    const ids = [...list.nodes, ...next.list.nodes].map(({ id }: { id: string }) => id);
    assert.deepEqual(ids, (await idsInOrder('token')).slice(0, 1_000));
  });
});
