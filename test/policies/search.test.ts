import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { KeyPrincipal, Principal } from '../../subgraphs/platform/access/principal.ts';
import { size } from '../support/size.ts';
import { admin, openHarness, operator, type Harness } from './harness.ts';

let harness: Harness;
let own: KeyPrincipal;
let other: KeyPrincipal;
/** Payments by a name of the test's own. */
const made = new Map<string, { id: string; publicId: string }>();

const creating =
  'mutation ($input: PaymentCreateInput!) { paymentCreate(input: $input) { ... on PaymentCreated { payment { id publicId } } } }';
const make = async (
  name: string,
  key: KeyPrincipal,
  input: Record<string, unknown>,
): Promise<void> => {
  const { payment } = await harness.ask('payments', key, creating, {
    input: { amount: 100, ...input },
  });
  made.set(name, payment);
  harness.pass({ milliseconds: 1 });
};
const of = (name: string) => made.get(name) ?? assert.fail(name);

before(async () => {
  harness = await openHarness();
  own = await harness.merchant('live');
  other = await harness.merchant('live');
  await make('tea', own, { orderId: 'order 1', customerId: 'ann' });
  await make('cake', own, { orderId: 'order 2', customerId: 'ann', amount: 200 });
  await make('test', { ...own, mode: 'test' }, { orderId: 'order 1' });
  await make('foreign', other, { orderId: 'order 1', customerId: 'ann' });
  await harness.rows(
    "update payment set rrn = '123456789012', customer_card_mask = '**** **** **** 1111', status = 'failed' where id = $1",
    [of('cake').id],
  );
});
after(() => harness.close());

const searching = `query ($search: PaymentSearchInput!, $m: ID, $first: Int, $after: String, $last: Int, $before: String) {
  paymentSearch(search: $search, merchantId: $m, first: $first, after: $after, last: $last, before: $before) {
    nodes { id } pageInfo { hasNextPage endCursor hasPreviousPage startCursor } } }`;
const search = (
  principal: Principal,
  criteria: Record<string, unknown>,
  variables: Record<string, unknown> = {},
) => harness.ask('payments', principal, searching, { search: criteria, ...variables });
/** What is found, by the test's own names, newest first; or the error's code. */
const found = async (
  principal: Principal,
  criteria: Record<string, unknown>,
  variables: Record<string, unknown> = {},
): Promise<readonly string[] | string> => {
  const page = await search(principal, criteria, variables);
  if (page.error) return page.error;
  const names = new Map(Array.from(made, ([name, { id }]) => [id, name]));
  return page.nodes.map(({ id }: { id: string }) => names.get(id));
};
const day = { from: '2026-11-21', to: '2026-11-21' };

test('an operator finds a merchant’s payments by each criterion and by several at once, newest first, of both modes', async () => {
  const m = { m: own.merchantId };
  const expected: readonly (readonly [Record<string, unknown>, readonly string[]])[] = [
    [{ id: of('tea').id }, ['tea']],
    [{ publicId: of('cake').publicId }, ['cake']],
    [{ orderId: 'order 1' }, ['test', 'tea']],
    [{ customerId: 'ann' }, ['cake', 'tea']],
    [{ rrn: '123456789012' }, ['cake']],
    [{ ...day, cardMask: '1111' }, ['cake']],
    [{ ...day, amount: 100 }, ['test', 'tea']],
    [{ ...day, status: ['failed', 'succeeded'] }, ['cake']],
    [day, ['test', 'cake', 'tea']],
    [{ orderId: 'order 1', customerId: 'ann' }, ['tea']],
    [{ orderId: 'order 1', amount: 200 }, []],
    [{ customerId: 'ann', from: '2026-11-22' }, []],
    [{ orderId: 'ORDER 1' }, []],
  ];
  for (const [criteria, names] of expected)
    assert.deepEqual(await found(admin, criteria, m), names, JSON.stringify(criteria));
});

test('without a merchant only an id and a public id are searched for', async () => {
  assert.deepEqual(await found(admin, { id: of('foreign').id }), ['foreign']);
  assert.deepEqual(await found(admin, { publicId: of('foreign').publicId }), ['foreign']);
  assert.deepEqual(await found(admin, { id: of('foreign').id, orderId: 'order 2' }), []);
  assert.equal(await found(admin, { orderId: 'order 1' }), 'bad_request');
});

test('a key finds its own shop’s payments of its own mode alone, a cabinet user its merchant’s', async () => {
  assert.deepEqual(await found(own, { orderId: 'order 1' }), ['tea']);
  assert.deepEqual(await found({ ...own, mode: 'test' }, { orderId: 'order 1' }), ['test']);
  assert.deepEqual(await found({ ...own, shopId: other.shopId }, { orderId: 'order 1' }), []);
  assert.deepEqual(await found(own, { id: of('foreign').id }), []);
  const cabinet = operator('viewer', own.merchantId);
  assert.deepEqual(await found(cabinet, { customerId: 'ann' }), ['cake', 'tea']);
  assert.deepEqual(await found(cabinet, { publicId: of('foreign').publicId }), []);
  assert.equal(await found(cabinet, { customerId: 'ann' }, { m: other.merchantId }), 'not_found');
  assert.equal(await found({ ...own, scopes: [] }, { id: of('tea').id }), 'scope_required');
});

test('malformed criteria, cursors and searches without an index over many days are refused', async () => {
  const m = { m: own.merchantId };
  const wrong = [
    { id: 'x' },
    { publicId: '100001' },
    { orderId: '' },
    { orderId: 'a\0' },
    { rrn: '12 34' },
    { ...day, cardMask: '111' },
    { ...day, cardMask: '%111' },
    { ...day, amount: 0 },
    { ...day, status: [] },
    { from: 'yesterday', to: '2026-11-21' },
    { amount: 100 },
    {},
    { amount: 100, from: '2026-11-21' },
    { amount: 100, from: '2026-10-01', to: '2026-11-21' },
  ];
  for (const criteria of wrong)
    assert.equal(await found(admin, criteria, m), 'bad_request', JSON.stringify(criteria));
  assert.deepEqual(
    await found(admin, { amount: 200, from: '2026-10-22', to: '2026-11-21' }, m),
    ['cake'],
    'thirty-one days',
  );
  assert.equal(await found(admin, day, { m: 'x' }), 'not_found');
  assert.equal(await found(admin, day, { ...m, first: 0 }), 'bad_request');
  assert.equal(await found(admin, day, { ...m, after: 'x' }), 'bad_request');
});

test('pages neither repeat nor skip, and a cursor belongs to its search', async () => {
  const m = { m: own.merchantId, first: 1 };
  for (const criteria of [day, { customerId: 'ann' }]) {
    const seen: string[] = [];
    for (let after: string | null = null, pages = 0; pages < 5; pages++) {
      const page: any = await search(admin, criteria, { ...m, after });
      seen.push(...page.nodes.map(({ id }: { id: string }) => id));
      after = page.pageInfo.endCursor;
      if (!page.pageInfo.hasNextPage) break;
    }
    const back: string[] = [];
    for (let before: string | null = null, more = true; more;) {
      const page: any = await search(admin, criteria, { m: own.merchantId, last: 1, before });
      back.unshift(...page.nodes.map(({ id }: { id: string }) => id));
      before = page.pageInfo.startCursor;
      more = page.pageInfo.hasPreviousPage;
    }
    assert.deepEqual(back, seen);
    assert.deepEqual(
      seen,
      (await search(admin, criteria, { m: own.merchantId })).nodes.map(
        ({ id }: { id: string }) => id,
      ),
    );
  }
  const { pageInfo } = await search(admin, day, m);
  assert.equal(
    await found(admin, { customerId: 'ann' }, { ...m, after: pageInfo.endCursor }),
    'bad_request',
  );
});

test('each criterion that names a payment nearly alone is answered by an index', async () => {
  await harness.rows(
    `insert into payment select (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid(), 'public_id', 'P-' || n, 'order_id', 'bulk ' || n, 'customer_id', 'c' || n, 'rrn', n::text))).*
     from payment p cross join generate_series(1, ${size(3_000, 20_000)}) n where p.id = $1`,
    [of('tea').id],
  );
  await harness.rows('analyze payment');
  const plans: readonly (readonly [string, string])[] = [
    ["public_id = 'P-77'", 'payment_public'],
    [`merchant_id = '${own.merchantId}' and order_id = 'bulk 77'`, 'payment_order'],
    [`merchant_id = '${own.merchantId}' and customer_id = 'c77'`, 'payment_of_customer'],
    [`merchant_id = '${own.merchantId}' and rrn = '77'`, 'payment_rrn'],
  ];
  for (const [condition, index] of plans) {
    const rows = await harness.rows(
      `explain select * from payment where ${condition} order by created_at desc, id desc limit 51`,
    );
    assert.match(
      rows.map((row) => row['QUERY PLAN']).join('\n'),
      new RegExp(`${index}\\b`),
      condition,
    );
  }
  assert.equal(
    (await search(admin, { orderId: 'bulk 77' }, { m: own.merchantId })).nodes.length,
    1,
  );
});
