/** Totals in the graph: whose a caller reads, and how a span is cut. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { parse } from 'graphql';
import { scopes, type Principal } from '../../subgraphs/platform/access/principal.ts';
import { openGraphHarness } from './harness.ts';
import { plant, type Planted } from './planted-rows.ts';

let harness: Awaited<ReturnType<typeof openGraphHarness>>;
let own: Planted;
let other: Planted;

const nobody = '00000000-0000-0000-0000-000000000000';

/** Totals of a merchant's shop as the counting leaves them, with one row in each level. */
const hours = `insert into hourly_total select whose.merchant, whose.shop, 'live', 'RUB', 'payment', $3::timestamptz, 'sbp', 'tbank', '',
    0, 0, 0, $4::bigint, 1, 0, 0, 0, 0, 0, 0, $4::bigint * 100, 50, 0, 0, 0, $4::bigint * 100, $4::bigint
  from (values ($1::uuid, $2::uuid), ($1, '${nobody}'), ('${nobody}', '${nobody}')) as whose (merchant, shop)
  on conflict (merchant_id, shop_id, mode, currency, kind, hour, method, bank, failure_code)
  do update set count_succeeded = hourly_total.count_succeeded + excluded.count_succeeded, count_failed = hourly_total.count_failed + 1,
    amount_succeeded = hourly_total.amount_succeeded + excluded.amount_succeeded, moved = hourly_total.moved + excluded.moved`;

before(async () => {
  harness = await openGraphHarness();
  const { pool } = harness.database;
  own = await plant(pool, 'own', { merchant: randomUUID(), shop: randomUUID() });
  other = await plant(pool, 'other', { merchant: randomUUID(), shop: randomUUID() });
  // Half past eleven at night in Moscow, and half past midnight.
  for (const [whose, at, count] of [
    [own, '2026-05-01T20:00:00Z', 3],
    [own, '2026-05-01T21:00:00Z', 4],
    [other, '2026-05-01T20:00:00Z', 100],
  ] as const)
    await pool.query(hours, [whose.id('merchant'), whose.id('shop'), at, count]);
});
after(() => harness?.close());

const person = (merchantId: string | null): Principal => ({
  kind: 'operator',
  subject: 'o',
  role: 'viewer',
  merchantId,
});

const document =
  parse(`query ($merchantId: ID, $shopId: ID, $from: DateTime!, $to: DateTime!, $interval: TotalsInterval,
    $timeZone: String! = "UTC", $groupBy: TotalsGroup) {
  totals(merchantId: $merchantId, shopId: $shopId, from: $from, to: $to, interval: $interval, timeZone: $timeZone, groupBy: $groupBy) {
    currency complete parts { from to rows { group count amount succeeded failed moved fee } } } }`);

interface Part {
  readonly from: string;
  readonly to: string;
  readonly rows: readonly {
    readonly group: string | null;
    readonly count: number;
    readonly succeeded: number;
    readonly failed: number;
    readonly moved: number | null;
  }[];
}

const may = { from: '2026-05-01T00:00:00Z', to: '2026-05-03T00:00:00Z' };

const ask = async (
  principal: Principal,
  asked: Readonly<Record<string, unknown>> = {},
): Promise<readonly Part[] | string> => {
  const { data, errors } = await harness.supergraph.execute(
    { document, variables: { ...may, ...asked } },
    { principal, requestId: 'r', isInLane: true },
  );
  if (errors) return `${String(errors[0]?.extensions['code'])}: ${errors[0]?.message}`;
  const { totals }: { totals: { parts: readonly Part[] } } = JSON.parse(JSON.stringify(data));
  return totals.parts;
};

/** The refusal of what may not be asked. */
const refusalOf = async (principal: Principal, asked: Readonly<Record<string, unknown>>) => {
  const answer = await ask(principal, asked);
  return typeof answer === 'string' ? answer : 'it was answered';
};

/** How many succeeded in each part. */
const counts = (parts: readonly Part[] | string): readonly unknown[] =>
  typeof parts === 'string'
    ? [parts]
    : parts.map(({ rows }) => rows.reduce((sum, { succeeded }) => sum + succeeded, 0));

describe('whose totals', () => {
  test('of a key are those of its shop in its mode', async () => {
    const key = (mode: 'live' | 'test'): Principal => ({
      kind: 'key',
      keyId: '00000000-0000-4000-8000-00000000000a',
      merchantId: own.id('merchant'),
      shopId: own.id('shop'),
      mode,
      scopes,
    });
    assert.deepEqual(counts(await ask(key('live'))), [7]);
    assert.deepEqual(counts(await ask(key('test'))), [0]);
    assert.match(await refusalOf(key('live'), { shopId: other.id('shop') }), /^not_found/);
    assert.match(await refusalOf(key('live'), { merchantId: other.id('merchant') }), /^not_found/);
  });

  test('of a cabinet user are those of its merchant, and no other merchant’s are found', async () => {
    const user = person(own.id('merchant'));
    assert.deepEqual(counts(await ask(user)), [7]);
    assert.deepEqual(counts(await ask(user, { shopId: own.id('shop') })), [7]);
    assert.deepEqual(counts(await ask(user, { shopId: other.id('shop') })), [0]);
    assert.match(await refusalOf(user, { merchantId: other.id('merchant') }), /^not_found/);
  });

  test('of an operator are those of all merchants, or of one that is named', async () => {
    assert.deepEqual(counts(await ask(person(null))), [107]);
    assert.deepEqual(counts(await ask(person(null), { merchantId: other.id('merchant') })), [100]);
    assert.match(await refusalOf(person(null), { groupBy: 'shop' }), /^bad_request: groupBy/);
    const byShop = await ask(person(own.id('merchant')), { groupBy: 'shop' });
    assert.ok(typeof byShop !== 'string');
    assert.deepEqual(
      byShop[0]?.rows.map(({ group }) => group),
      [own.id('shop')],
    );
  });
});

test('a sum beyond 2^53-1 is answered to the last digit', async () => {
  const { pool } = harness.database;
  const at = '2026-06-01T00:00:00Z';
  await pool.query(hours, [own.id('merchant'), own.id('shop'), at, 1]);
  await pool.query(
    `update hourly_total set amount_succeeded = 9007199254740993, moved = 18014398509481981
     where merchant_id = $1 and hour = $2`,
    [own.id('merchant'), at],
  );
  const variables = { from: at, to: '2026-06-02T00:00:00Z' };
  const user = { principal: person(own.id('merchant')), requestId: 'r', isInLane: true };
  const answer = await harness.supergraph.execute({ document, variables }, user);
  const text = JSON.stringify(answer);
  assert.match(text, /"amount":9007199254741043,"succeeded":1/);
  assert.match(text, /"moved":18014398509481981,/);
});

describe('a span', () => {
  test('is cut at midnight of the zone that is asked for', async () => {
    const user = person(own.id('merchant'));
    const days = async (timeZone: string) => counts(await ask(user, { interval: 'day', timeZone }));
    assert.deepEqual(await days('UTC'), [7, 0]);
    assert.deepEqual(await days('Europe/Moscow'), [3, 4, 0]);
    assert.deepEqual(await days('+03:00'), [3, 4, 0]);
    const parts = await ask(user, { interval: 'day', timeZone: 'Europe/Moscow' });
    assert.ok(typeof parts !== 'string');
    assert.deepEqual(
      parts.map(({ from, to }) => [from.slice(5, 13), to.slice(5, 13)]),
      [
        ['05-01T00', '05-01T21'],
        ['05-01T21', '05-02T21'],
        ['05-02T21', '05-03T00'],
      ],
    );
  });

  test('has a day of 23 hours where the clocks are put forward', async () => {
    const parts = await ask(person(null), {
      from: '2026-03-27T23:00:00Z',
      to: '2026-03-29T22:00:00Z',
      interval: 'day',
      timeZone: 'Europe/Berlin',
    });
    assert.ok(typeof parts !== 'string');
    assert.deepEqual(
      parts.map(({ from, to }) => (Date.parse(to) - Date.parse(from)) / 3_600_000),
      [24, 23],
    );
  });

  test('is cut into hours, weeks and months', async () => {
    const starts = async (interval: string, from: string, to: string) => {
      const parts = await ask(person(null), { interval, from, to });
      return typeof parts === 'string' ? parts : parts.map((part) => part.from.slice(0, 13));
    };
    assert.deepEqual(await starts('hour', '2026-05-01T00:00:00Z', '2026-05-01T02:00:00Z'), [
      '2026-05-01T00',
      '2026-05-01T01',
    ]);
    // The first of May 2026 is a Friday.
    assert.deepEqual(await starts('week', '2026-05-01T00:00:00Z', '2026-05-12T00:00:00Z'), [
      '2026-05-01T00',
      '2026-05-04T00',
      '2026-05-11T00',
    ]);
    assert.deepEqual(await starts('month', '2026-01-31T00:00:00Z', '2026-03-02T00:00:00Z'), [
      '2026-01-31T00',
      '2026-02-01T00',
      '2026-03-01T00',
    ]);
  });

  const wrong: Readonly<Record<string, readonly [object, RegExp]>> = {
    'half an hour': [{ from: '2026-05-01T00:30:00Z' }, /^bad_request: from/],
    'an end that is no whole hour': [{ to: '2026-05-02T00:00:00.001Z' }, /^bad_request: to/],
    'no time at all': [{ to: may.from }, /^bad_request: to/],
    'more than 1,100 days': [{ to: '2029-06-01T00:00:00Z' }, /^bad_request: to/],
    'more than 800 intervals': [
      { to: '2026-07-01T00:00:00Z', interval: 'hour' },
      /^bad_request: interval/,
    ],
    'a zone that is none': [{ timeZone: 'Europe/Atlantis' }, /^bad_request: timeZone/],
    'a zone of half hours': [
      { timeZone: 'Asia/Kolkata', interval: 'day' },
      /^bad_request: timeZone/,
    ],
  };
  for (const [what, [asked, refusal]] of Object.entries(wrong))
    test(`of ${what} is refused in words`, async () => {
      assert.match(await refusalOf(person(null), { ...asked }), refusal);
    });
});
