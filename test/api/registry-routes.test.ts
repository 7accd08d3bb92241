import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type pg from 'pg';
import { readContract } from '../../rest-facade/read-contract.ts';
import { openPool, startTestDatabase, type TestDatabase } from '../support/database.ts';
import { askGraph, callRest, makeMerchant, type Merchant } from '../support/merchant.ts';
import { residentMemory_MiB } from '../support/resident-memory.ts';
import { startService, type Service } from '../support/service.ts';
import { plantPayments, plantPostings } from './planted-registry.ts';

let database: TestDatabase;
let service: Service;
let pool: pg.Pool;
let merchant: Merchant;
let live: { rest: string; key: string };
before(async () => {
  database = await startTestDatabase({ migrated: true });
  service = await startService('one', {
    DATABASE_URL: database.url,
    SECRET_KEY: randomBytes(32).toString('base64'),
  });
  pool = openPool(database.url, 2);
  merchant = await makeMerchant(service);
  const names = { m: merchant.id, s: merchant.shopId };
  await askGraph(
    service,
    'mutation ($m: ID!) { merchantLiveEnable(merchantId: $m) { __typename } }',
    { m: merchant.id },
  );
  const issue =
    'mutation ($m: ID!, $s: ID!) { apiKeyIssue(merchantId: $m, shopId: $s, mode: live) { ... on ApiKeyIssued { secret } } }';
  const { apiKeyIssue } = await askGraph(service, issue, names);
  live = { rest: service.rest, key: apiKeyIssue.secret };
});
after(async () => {
  await pool?.end();
  await service?.stop();
  await database?.stop();
});

const itemsOf = async (
  key: string,
  path: string,
): Promise<readonly { id: string; status: string; metadata: { mode: string } }[]> =>
  (await callRest({ rest: service.rest, key }, 'GET', path)).body.items;

describe('the payments registry', () => {
  before(async () => {
    const shop = { merchantId: merchant.id, shopId: merchant.shopId };
    const at = `timestamptz '2026-11-20 23:59:59.999Z' + n * interval '1 ms'`;
    const status = `(array['failed', 'cancelled', 'expired'])[1 + n % 3]`;
    for (const mode of ['live', 'test'] as const)
      await plantPayments(pool, shop, mode, 6, { status, at });
  });

  test('shows a live key live payments, and test ones beside them when it asks; a test key test ones alone', async () => {
    const modes = async (key: string, query: string): Promise<readonly string[]> =>
      (await itemsOf(key, `/payments${query}`)).map(({ metadata }) => metadata.mode);
    for (const query of ['', '?include_test=0'])
      assert.deepEqual(await modes(live.key, query), Array(6).fill('live'), query);
    assert.deepEqual((await modes(live.key, '?include_test=1')).toSorted(), [
      ...Array(6).fill('live'),
      ...Array(6).fill('test'),
    ]);
    for (const query of ['', '?include_test=1'])
      assert.deepEqual(await modes(merchant.key, query), Array(6).fill('test'));
  });

  test('a test payment that a live key sees in it is not found by id: a program that confirms orders by id must never take it for money', async () => {
    const [shown] = (await itemsOf(live.key, '/payments?include_test=1')).filter(
      ({ metadata }) => metadata.mode === 'test',
    );
    assert.ok(shown);
    assert.equal((await callRest(live, 'GET', `/payments/${shown.id}`)).status, 404);
    assert.deepEqual(
      (await merchant.call('GET', `/payments/${shown.id}`)).body,
      { ...shown, payment_url: null },
      'an item is the whole payment but for its page',
    );
  });

  test('takes several statuses, with commas or each as a parameter of its own, and UTC days', async () => {
    const statuses = async (query: string): Promise<readonly string[]> =>
      (await itemsOf(merchant.key, `/payments${query}`)).map(({ status }) => status);
    assert.deepEqual(await statuses('?status=failed,expired'), [
      'expired',
      'failed',
      'expired',
      'failed',
    ]);
    for (const query of [
      '?status=failed&status=expired',
      '?status=expired&status=failed,expired',
    ]) {
      assert.deepEqual(await statuses(query), ['expired', 'failed', 'expired', 'failed'], query);
    }
    assert.deepEqual(await statuses('?to=2026-11-20'), ['failed']);
    assert.deepEqual((await statuses('?from=2026-11-21&status=failed')).length, 1);
    for (const wrong of ['failed,', 'paid', 'failed,paid', ''])
      assert.equal((await merchant.call('GET', `/payments?status=${wrong}`)).status, 400, wrong);
  });

  test('pages on with next_cursor to null, and refuses the cursor of another query', async () => {
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body }: { body: any } = await merchant.call(
        'GET',
        `/payments?limit=4&status=failed,cancelled,expired${cursor && `&cursor=${cursor}`}`,
      );
      seen.push(...body.items.map(({ id }: { id: string }) => id));
      if (body.next_cursor)
        assert.equal(
          (await merchant.call('GET', `/payments?limit=4&cursor=${body.next_cursor}`)).status,
          400,
        );
      cursor = body.next_cursor;
    }
    assert.equal(new Set(seen).size, 6);
    assert.equal(seen.length, 6);
  });
});

/** Each parameter that takes a list, with a second value of it. */
const lists = [
  ['/payments', 'status', 'pending', 'succeeded'],
  ['/refunds', 'status', 'pending', 'succeeded'],
  ['/receipts', 'status', 'pending', 'failed'],
  ['/payouts', 'status', 'pending', 'succeeded'],
  ['/payouts', 'method', 'payouts_sbp', 'payouts_card'],
  ['/subscriptions', 'status', 'active', 'paused'],
  ['/tokens', 'status', 'active', 'pending'],
  ['/requests', 'status', '400', '201'],
  ['/links', 'status', 'active', 'paid'],
  ['/event-log', 'event', 'payment.succeeded', 'link.paid'],
] as const;

test('every list of a query may be written with commas, repeated, or both', async () => {
  const described = [...readContract().operations.values()].flatMap(({ path, parameters }) =>
    parameters.filter(({ schema }) => schema.type === 'array').map(({ name }) => `${path} ${name}`),
  );
  assert.deepEqual(
    described,
    lists.map(([path, name]) => `/v1/public${path} ${name}`),
  );
  for (const [path, name, one, other] of lists) {
    for (const query of [
      `${name}=${one},${other}`,
      `${name}=${one}&${name}=${other}`,
      `${name}=${one}&${name}=${other},${one}`,
    ]) {
      assert.equal(
        (await merchant.call('GET', `${path}?${query}`)).status,
        200,
        `${path} ${query}`,
      );
    }
  }
});

describe('the ledger as a file', () => {
  const rows = 50_000;
  before(async () => {
    const shop = { merchantId: merchant.id, shopId: merchant.shopId };
    const at = `timestamptz '2026-10-01 00:00:00Z' + n * interval '7 s'`;
    const type = `(array['payment', 'fee'])[1 + n % 2]`;
    const [from, to] = [
      `(array['acquirer_clearing', 'merchant'])[1 + n % 2]`,
      `(array['merchant', 'platform_fees'])[1 + n % 2]`,
    ];
    await plantPostings(pool, shop, 'test', rows, { type, from, to, at });
    const odd = `case n when 0 then 'adjustment' else 'settlement' end`;
    await plantPostings(pool, shop, 'test', 2, {
      type: odd,
      from: `'merchant'`,
      to: `'suspense'`,
      at: `timestamptz '2026-09-01 10:20:30.04Z' + n * interval '1 ms'`,
    });
    await pool.query(
      `update posting set description = E'say "no", =1+1\\r\\nand \\u00e9' where merchant_id = $1 and type = 'adjustment'`,
      [merchant.id],
    );
    await pool.query(
      `update posting set payment_id = null where merchant_id = $1 and type in ('adjustment', 'settlement')`,
      [merchant.id],
    );
  });

  /** RFC 4180, read by hand. */
  const cellsOf = (text: string): readonly (readonly string[])[] => {
    const lines: string[][] = [];
    for (const [, quoted, plain = '', end] of text.matchAll(
      /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g,
    )) {
      if (lines.length === 0 || lines.at(-1)?.at(-1) === '\r\n') lines.push([]);
      lines.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain);
      if (end === '\r\n') lines.at(-1)?.push(end);
    }
    return lines.map((line) => line.slice(0, -1));
  };

  test('holds what the JSON holds: every field in its order, quoted where it must be and nowhere else changed', async () => {
    for (const query of [
      '?to=2026-09-30',
      '?type=fee&limit=3',
      '?from=2026-10-02&to=2026-10-02&type=payment&limit=200',
      '?type=payout',
    ]) {
      const { body: json } = await merchant.call('GET', `/ledger${query}`);
      const { body: csv } = await merchant.call('GET', `/ledger${query}&format=csv`);
      const [header, ...lines] = cellsOf(csv);
      const items: readonly Record<string, string | number | null>[] = json.items;
      const names = [
        'id',
        'type',
        'amount',
        'currency',
        'description',
        'payment_id',
        'payout_id',
        'created_at',
      ];
      assert.deepEqual(header, names);
      assert.deepEqual(
        lines,
        items.map((item) => names.map((name) => String(item[name] ?? ''))),
        query,
      );
      for (const item of items) assert.deepEqual(Object.keys(item), names);
    }
    const { body } = await merchant.call('GET', '/ledger?type=adjustment');
    assert.deepEqual(
      [body.items[0].description, body.items[0].amount, body.items[0].created_at],
      ['say "no", =1+1\r\nand é', -1, '2026-09-01T10:20:30.040Z'],
    );
  });

  test('continues behind a cursor of the list with the same filters, and of no other', async () => {
    const query = '/ledger?type=fee&to=2026-10-03';
    const { body: first } = await merchant.call('GET', `${query}&limit=2`);
    const behind = `cursor=${first.next_cursor}`;
    const { body: second } = await merchant.call('GET', `${query}&limit=3&${behind}`);
    const { body: csv } = await merchant.call('GET', `${query}&limit=3&${behind}&format=csv`);
    const idsOf = (text: string) => cellsOf(text).flatMap(([id = '']) => id);
    assert.deepEqual(
      idsOf(csv).slice(1),
      second.items.map(({ id }: { id: string }) => id),
    );
    const { body: whole } = await merchant.call('GET', `${query}&format=csv`);
    const { body: rest } = await merchant.call('GET', `${query}&${behind}&format=csv`);
    assert.deepEqual(idsOf(rest).slice(1), idsOf(whole).slice(3));
    for (const other of ['/ledger?to=2026-10-03', '/ledger?type=payment&to=2026-10-03'])
      assert.equal(
        (await merchant.call('GET', `${other}&${behind}&format=csv`)).status,
        400,
        other,
      );
  });

  /** 0 where it cannot be known. */
  const memory_MiB = (): number => residentMemory_MiB(service.processes[0]?.child.pid ?? 0) ?? 0;

  test('is whole for a reader that takes its time, and costs the service little memory', async () => {
    const before_MiB = memory_MiB();
    let most_MiB = before_MiB;
    const request = get(`${service.rest}/v1/public/ledger?format=csv&from=2026-10-01`, {
      headers: { authorization: `Bearer ${merchant.key}` },
    });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    let text = '';
    let chunks = 0;
    for await (const chunk of response) {
      text += String(chunk);
      if (chunks++ % 100 === 0) most_MiB = Math.max(most_MiB, memory_MiB());
      await nextTurn();
    }
    const ids = text
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((line) => line.slice(0, 36));
    assert.equal(ids.length, rows);
    assert.equal(new Set(ids).size, rows);
    assert.ok(
      most_MiB - before_MiB < 100,
      `${(most_MiB - before_MiB).toFixed(0)} MiB for ${(text.length / 1_048_576).toFixed(0)} MiB of text`,
    );
  });
});
