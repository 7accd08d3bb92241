/** What is looked at is paid for, however little is found (decision A-330). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { buildSchema, parse } from 'graphql';
import { personRateLimit } from '../../gateway/callers/rate-limit.ts';
import { costOf } from '../../gateway/graphql/document-cost.ts';
import { looked_max_tokens } from '../../gateway/graphql/looked-cost.ts';
import { codesOf, post, read } from './ask-graph.ts';
import { serveGraph, stoppedClock } from './serve-graph.ts';
import { testKey } from './small-graph.ts';

const generated = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../../schema/generated', name), 'utf8');
const schema = buildSchema(generated('api.graphql'));

const tokensOf = (query: string, variables: Readonly<Record<string, unknown>> = {}): number =>
  costOf(schema, { document: parse(query), variables }).tokens;

const link = 'filter: { linkId: "00000000-0000-4000-8000-000000000010" }';
const days = 'from: "2026-11-01", to: "2026-11-26"';
const prices: readonly (readonly [title: string, tokens: number, query: string])[] = [
  ['a filter that no index has: 4', 5, `{ payments(first: 1, ${link}) { nodes { id } } }`],
  [
    'a filter of an index’s range: nothing',
    1,
    '{ payments(first: 1, filter: { mode: [live], shopId: ["s"], since: "2026-11-01T00:00:00Z" }) { nodes { id } } }',
  ],
  ['a filter that is null: nothing', 1, '{ payments(filter: { linkId: null }) { nodes { id } } }'],
  ['a total under it: 6 more', 11, `{ payments(first: 1, ${link}) { totalCount { count } } }`],
  [
    'a total under another name: once more',
    17,
    `{ payments(first: 1, ${link}) { totalCount { count } b: totalCount { count } } }`,
  ],
  [
    'a total in a fragment',
    11,
    `{ payments(first: 1, ${link}) { ...T } } fragment T on PaymentConnection { totalCount { count } }`,
  ],
  ['any other total: 1', 2, '{ payments(first: 1) { totalCount { count } } }'],
  [
    'a search within days: 4',
    5,
    `{ paymentSearch(first: 1, search: { cardMask: "4242", ${days} }) { nodes { id } } }`,
  ],
  [
    'a search by what names a payment: nothing',
    1,
    '{ paymentSearch(first: 1, search: { orderId: "o" }) { nodes { id } } }',
  ],
  [
    'a search of payouts within days: 4',
    5,
    `{ payoutSearch(first: 1, search: { amount: 100, ${days} }) { nodes { id } } }`,
  ],
  [
    'deliveries of an endpoint: 4',
    5,
    '{ webhookDeliveries(first: 1, endpointId: "e") { nodes { id } } }',
  ],
  [
    'failed deliveries: nothing',
    1,
    '{ webhookDeliveries(first: 1, status: failed) { nodes { id } } }',
  ],
];

describe('beside what an operation answers with it pays for', () => {
  for (const [title, tokens, query] of prices)
    test(title, () => assert.equal(tokensOf(query), tokens));

  test('what its variables narrow, by what is given in them', () => {
    const document = parse(
      'query ($f: PaymentFilter, $l: ID) { a: payments(first: 1, filter: $f) { nodes { id } } b: payments(first: 1, filter: { linkId: $l }) { nodes { id } } }',
    );
    const price = (variables: Readonly<Record<string, unknown>>): number =>
      costOf(schema, { document, variables }).tokens;
    // One document, whose estimates are kept.
    assert.equal(price({}), 1);
    assert.equal(price({ f: { bank: ['a'] } }), 5);
    assert.equal(price({ f: { mode: ['live'] } }), 1);
    assert.equal(price({ f: { bank: null }, l: 'x' }), 5);
    assert.equal(price({ f: { amountFrom: 1 }, l: 'x' }), 9);
    assert.equal(price({ l: null }), 1);
  });
});

describe('a stranger who asks for much to be looked at', () => {
  const twenty = `{ ${Array.from({ length: 20 }, (_, i) => `a${i}: payments(first: 1, filter: { bank: ["none${i}"] }) { nodes { id } totalCount { count } }`).join(' ')} }`;

  test('in one document is refused with the numbers, and nothing has run', async (t) => {
    const { url, fixture } = await serveGraph(t);
    const response = await post(url, { query: twenty });
    assert.equal(response.status, 400);
    const { errors } = await read(response);
    assert.deepEqual(errors?.[0]?.extensions, {
      code: 'query_too_complex',
      exceeded: { has: 200, most: looked_max_tokens },
    });
    assert.equal(fixture.count('payments'), 0);
  });

  test('in one document after another has no more than the bucket pays for', async (t) => {
    const { url, fixture } = await serveGraph(t, stoppedClock);
    fixture.setKey(testKey, {
      ...fixture.holderOf(testKey),
      rateLimit: { perSecond: 1, burst: 20 },
    });
    const query = `{ paymentSearch(first: 1, search: { cardMask: "4242", ${days} }) { nodes { id } } }`;
    const codes: unknown[] = [];
    for (let call = 0; call < 8; call += 1)
      codes.push(...(await codesOf(await post(url, { query }))));
    // The small fixture has no payments: whoever was let through got its error.
    assert.equal(codes.filter((code) => code !== 'rate_limited').length, 4, codes.join(' '));
  });
});

describe('the console', () => {
  const { operations }: { operations: Readonly<Record<string, string>> } = JSON.parse(
    generated('console-operations.json'),
  );
  const costs = (name: string, variables: Readonly<Record<string, unknown>> = {}): number => {
    const text = operations[name] ?? assert.fail(`the console has no ${name}`);
    const { tokens, refused } = costOf(schema, { document: parse(text), variables });
    assert.equal(refused, null, name);
    return tokens;
  };
  const day = '2026-11-26T00:00:00Z';
  const filter = { mode: ['live'], bank: ['tbank'], amountFrom: 100 };
  const frame = (): number =>
    costs('Counts', { platform: true }) +
    costs('DraftsToDecide', { filter: { mode: ['live'], isMine: false } }) +
    costs('SavedViews', { section: 'payments' }) +
    costs('Viewer');
  const screens: Readonly<Record<string, () => number>> = {
    'the list of payments, narrowed': () =>
      costs('Payments', { filter }) + costs('PaymentsCount', { filter }),
    'the list of refunds, narrowed': () => costs('Refunds', { filter: { amountFrom: 1 } }),
    'the list of payouts, narrowed': () => costs('Payouts', { filter: { amountFrom: 1 } }),
    'the list of receipts, narrowed': () => costs('Receipts', { filter: { type: ['closing'] } }),
    'the subscriptions of a customer': () =>
      costs('Subscriptions', { filter: { customerRef: 'c' } }),
    'the deliveries of an endpoint, before they are replayed': () =>
      costs('Deliveries', { merchantId: 'm', endpointId: 'e' }) +
      costs('FailedDeliveries', { merchantId: 'm', since: day, endpointId: 'e' }),
    'the payments of a link': () =>
      costs('LinkPayments', { merchantId: 'm', id: 'l', mode: 'live', since: day }),
  };
  for (const [screen, price] of Object.entries(screens))
    test(`opens ${screen}, within a person’s bucket`, (t) => {
      const tokens = frame() + price();
      t.diagnostic(`${tokens} tokens`);
      assert.ok(tokens <= personRateLimit.burst, `${tokens} tokens`);
    });

  test('counts narrowed payments every two seconds, and has tokens left', () => {
    const each = costs('PaymentsCount', { filter });
    assert.ok(each <= personRateLimit.perSecond * 1.5, `${each} tokens`);
  });
});
