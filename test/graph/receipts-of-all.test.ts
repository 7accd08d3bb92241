/**
 * Receipts as people list them: those that failed, of one merchant or of all, whatever others have
 * registered meanwhile; and the payments that alerts lead to.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { parse } from 'graphql';
import { scopes, type Principal } from '../../subgraphs/platform/access/principal.ts';
import { looked_max_rows } from '../../subgraphs/platform/database/lists.ts';
import { openGraphHarness } from './harness.ts';
import { plant, type Planted } from './planted-rows.ts';

const registered = 30_000;
const failed = 30;

let harness: Awaited<ReturnType<typeof openGraphHarness>>;
let busy: Planted;
let quiet: Planted;

/** Copies a merchant's receipt: so many, a second apart, ending so many hours ago. */
const copy = (of: Planted, count: number, hours: number, changes: object): Promise<unknown> =>
  harness.database.pool.query(
    `insert into receipt select changed.* from receipt as original, generate_series(1, $2::int) as copy(number),
       lateral jsonb_populate_record(original, jsonb_build_object('id', md5($4 || copy.number)::uuid, 'payment_id', md5($4 || copy.number)::uuid,
         'created_at', original.created_at - make_interval(hours => $3, secs => copy.number)) || $4::jsonb) as changed
     where original.merchant_id = $1 and original.id = $5`,
    [of.id('merchant'), count, hours, JSON.stringify(changes), of.id('receipt')],
  );

const refused = { status: 'failed', registered_at: null, failure_reason: 'no paper' };

before(async () => {
  harness = await openGraphHarness();
  const { pool } = harness.database;
  const owner = () => ({ merchant: randomUUID(), shop: randomUUID() });
  busy = await plant(pool, 'busy', owner());
  quiet = await plant(pool, 'quiet', owner());
  await copy(busy, registered, 0, { mode: 'live' });
  await copy(busy, failed, 20, { ...refused, mode: 'live' });
  await copy(quiet, 1, 48, { ...refused, mode: 'live', type: 'closing' });
  await copy(quiet, 2, 47, { ...refused, mode: 'test' });
});
after(() => harness?.close());

const person = (merchantId: string | null = null): Principal => ({
  kind: 'operator',
  subject: 'o',
  role: 'viewer',
  merchantId,
});

const document =
  parse(`query ($merchantId: ID, $status: [ReceiptStatus!], $filter: ReceiptFilter, $first: Int, $after: String, $last: Int, $before: String, $paymentId: ID) {
  receipts(merchantId: $merchantId, status: $status, filter: $filter, first: $first, after: $after, last: $last, before: $before, paymentId: $paymentId) {
    nodes { id merchantId status mode type } pageInfo { hasNextPage endCursor hasPreviousPage startCursor } totalCount { count isExact } } }`);
const ask = async (variables: Record<string, unknown>, principal: Principal = person()) => {
  const { data, errors } = await harness.supergraph.execute(
    { document, variables },
    { principal, requestId: 'r', isInLane: true },
  );
  return errors ? errors[0]?.extensions['code'] : JSON.parse(JSON.stringify(data)).receipts;
};

/** Every page of a list, one way or the other. */
const pages = async (variables: Record<string, unknown>, way: 'first' | 'last') => {
  const found: any[] = [];
  for (let cursor: string | null = null, more = true; more;) {
    const place = way === 'first' ? { first: 20, after: cursor } : { last: 20, before: cursor };
    const page: any = await ask({ ...variables, ...place });
    found.push(...(way === 'first' ? page.nodes : page.nodes.toReversed()));
    const { hasNextPage, endCursor, hasPreviousPage, startCursor } = page.pageInfo;
    more = way === 'first' ? hasNextPage : hasPreviousPage;
    cursor = way === 'first' ? endCursor : startCursor;
  }
  return found.map(({ id }) => id);
};

describe('receipts that failed', () => {
  test('of all merchants are one list both ways, whatever is registered beside them', async () => {
    assert.ok(registered > looked_max_rows);
    const failing = { status: ['failed'], filter: { mode: ['live'] } };
    const page = await ask({ ...failing, first: 50 });
    assert.equal(page.nodes.length, failed + 1, 'one page has them, nothing is walked over');
    assert.deepEqual(page.totalCount, { count: failed + 1, isExact: true });
    assert.equal(page.nodes.at(-1).merchantId, quiet.id('merchant'));
    const forwards = await pages(failing, 'first');
    const backwards = await pages(failing, 'last');
    assert.equal(new Set(forwards).size, failed + 1);
    assert.deepEqual(backwards.toReversed(), forwards);
  });

  test('are narrowed by merchant, shop, mode and what they are for', async () => {
    const count = async (variables: Record<string, unknown>, principal = person()) =>
      (await ask({ status: ['failed'], first: 50, ...variables }, principal)).nodes.length;
    const merchantId = quiet.id('merchant');
    const both = { mode: ['live', 'test'] };
    assert.equal(await count({ merchantId, filter: both }), 3);
    assert.equal(await count({ merchantId, filter: { mode: ['test'] } }), 2);
    assert.equal(await count({ filter: { ...both, shopId: [quiet.id('shop')] } }), 3);
    assert.equal(await count({ filter: { ...both, type: ['closing'] } }), 1);
    assert.equal(await count({ merchantId, filter: { shopId: [busy.id('shop')] } }), 0);
    assert.equal(await count({ filter: both }, person(merchantId)), 3, 'its own, unnamed');
    assert.equal(await ask({ merchantId }, person(busy.id('merchant'))), 'not_found');
    assert.equal(await ask({ filter: { shopId: ['none'] } }), 'bad_request');
  });

  test('are those of a payment, and a key never leaves its shop and mode', async () => {
    const [one] = (await ask({ status: ['failed'], filter: { mode: ['test'] }, first: 1 })).nodes;
    const found = await ask({
      paymentId: one.id,
      merchantId: one.merchantId,
      filter: { mode: ['test'] },
    });
    assert.deepEqual(
      found.nodes.map(({ id }: any) => id),
      [one.id],
    );
    const key: Principal = {
      kind: 'key',
      keyId: 'k',
      merchantId: quiet.id('merchant'),
      shopId: quiet.id('shop'),
      mode: 'test',
      scopes,
    };
    const own = await ask({ status: ['failed'], filter: { mode: ['live', 'test'] } }, key);
    assert.deepEqual(
      own.nodes.map(({ mode }: any) => mode),
      ['test', 'test'],
    );
  });
});

test('an alert leads to its payment by a payment, a refund or a receipt; others lead nowhere', async () => {
  const merchantId = quiet.id('merchant');
  const subjects = ['payment', 'refund', 'receipt', 'payout'].map((table) => quiet.id(table));
  await harness.database.pool.query(
    `insert into alert (merchant_id, id, kind, subject_id, detail, raised_at, assignee)
     select $1, gen_random_uuid(), 'dead_letter', subject, 'd', now(), case when place = 1 then 'somebody' end
     from unnest($2::text[]) with ordinality as s(subject, place)`,
    [merchantId, [...subjects, 'a check of RUB']],
  );
  await harness.database.pool.query('update receipt set payment_id = $2 where id = $1', [
    quiet.id('receipt'),
    quiet.id('payment'),
  ]);
  const alerts = async (narrowing: string) => {
    const query = `{ alerts(merchantId: "${merchantId}", kind: dead_letter ${narrowing}) { nodes { subjectId payment { id } } } }`;
    const { data }: any = await harness.supergraph.execute(
      { document: parse(query), variables: {} },
      { principal: person(), requestId: 'r', isInLane: true },
    );
    return data.alerts.nodes;
  };
  const found = new Map(
    (await alerts('')).map(({ subjectId, payment }: any) => [subjectId, payment?.id ?? null]),
  );
  const payment = quiet.id('payment');
  assert.deepEqual(
    [...subjects, 'a check of RUB'].map((subject) => found.get(subject)),
    [payment, payment, payment, null, null],
  );
  const given = await alerts('unassigned: false');
  assert.deepEqual(
    given.map(({ subjectId }: any) => subjectId),
    [payment],
  );
  assert.equal((await alerts('unassigned: true')).length, 4);
});
