/** What belongs to one object: payments of a link, movements and webhooks of a payout. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { parse } from 'graphql';
import type { Principal } from '../../subgraphs/platform/access/principal.ts';
import { openGraphHarness } from './harness.ts';
import { plant, type Planted } from './planted-rows.ts';

let harness: Awaited<ReturnType<typeof openGraphHarness>>;
let own: Planted;
let other: Planted;
before(async () => {
  harness = await openGraphHarness();
  const { pool } = harness.database;
  const owner = () => ({ merchant: randomUUID(), shop: randomUUID() });
  own = await plant(pool, 'own', owner());
  other = await plant(pool, 'other', owner());
  // Beside what belongs to the object there is as much that does not.
  const copies: Readonly<Record<string, object>> = {
    payment: { id: randomUUID(), public_id: 'P-900001' },
    posting: { id: randomUUID(), source_id: randomUUID(), payout_id: randomUUID() },
    webhook_delivery: { id: randomUUID(), event_id: randomUUID(), subject_id: randomUUID() },
  };
  for (const [table, changes] of Object.entries(copies))
    await pool.query(
      `insert into ${table} select changed.* from ${table} as original, lateral jsonb_populate_record(original, $2) as changed where original.merchant_id = $1`,
      [own.id('merchant'), changes],
    );
});
after(() => harness?.close());

const person = (merchantId: string | null): Principal => ({
  kind: 'operator',
  subject: 'o',
  role: 'viewer',
  merchantId,
});

const ask = async (query: string, principal: Principal) => {
  const { data, errors } = await harness.supergraph.execute(
    { document: parse(query), variables: {} },
    { principal, requestId: 'r', isInLane: true },
  );
  if (errors) return errors[0]?.extensions['code'];
  const [list]: any[] = Object.values(data ?? {});
  return list.nodes.map(({ id }: any) => id);
};

test('payments of a link are those that were made through it, in everybody’s reach their own', async () => {
  const list = (of: Planted, from: Planted) =>
    ask(
      `{ payments(merchantId: "${of.id('merchant')}", filter: { mode: [test], linkId: "${from.id('payment_link').toUpperCase()}" }) { nodes { id } } }`,
      person(null),
    );
  assert.deepEqual(await list(own, own), [own.id('payment')]);
  assert.deepEqual(await list(own, other), []);
  const all = `{ payments(filter: { mode: [test], linkId: "${own.id('payment_link')}" }) { nodes { id } } }`;
  assert.deepEqual(await ask(all, person(null)), [own.id('payment')]);
  assert.deepEqual(await ask(all, person(other.id('merchant'))), []);
});

test('movements of a payment are its own and those of its refunds, by its id and by its number', async () => {
  const { pool } = harness.database;
  const [merchantId, paymentId] = [own.id('merchant'), own.id('payment')];
  const { rows } = await pool.query<{ number: string }>(
    'select public_id as number from payment where id = $1',
    [paymentId],
  );
  const ledger = (id: string) =>
    ask(
      `{ ledger(merchantId: "${merchantId}", mode: test, filter: { mode: [test], paymentId: "${id}" }) { nodes { id } } }`,
      person(merchantId),
    );
  for (const kind of ['payment', 'refund'] as const) {
    await pool.query('update posting set source_kind = $2, source_id = $3 where id = $1', [
      own.id('posting'),
      kind,
      own.id(kind),
    ]);
    for (const named of [paymentId.toUpperCase(), rows[0]?.number ?? ''])
      assert.deepEqual(await ledger(named), [own.id('posting')], `${kind} by ${named}`);
  }
  for (const none of [randomUUID(), other.id('payment'), 'P-1', 'nothing'])
    assert.deepEqual(await ledger(none), [], none);
});

test('movements and webhooks of a payout are its own', async () => {
  const { pool } = harness.database;
  const payoutId = own.id('payout');
  await pool.query(
    `update posting set payout_id = $2, source_kind = 'payout', source_id = $2 where id = $1`,
    [own.id('posting'), payoutId],
  );
  await pool.query('update webhook_delivery set subject_id = $2 where id = $1', [
    own.id('webhook_delivery'),
    payoutId,
  ]);
  const merchantId = own.id('merchant');
  const ledger = (id: string) =>
    ask(
      `{ ledger(merchantId: "${merchantId}", mode: test, filter: { mode: [test], payoutId: "${id}" }) { nodes { id } } }`,
      person(merchantId),
    );
  assert.deepEqual(await ledger(payoutId), [own.id('posting')]);
  assert.deepEqual(await ledger(randomUUID()), []);
  const deliveries = (id: string, of: string | null = merchantId) =>
    ask(
      `{ webhookDeliveries(${of === null ? '' : `merchantId: "${of}", `}subjectId: "${id}") { nodes { id } } }`,
      person(null),
    );
  assert.deepEqual(await deliveries(payoutId), [own.id('webhook_delivery')]);
  assert.deepEqual(await deliveries(payoutId, null), [own.id('webhook_delivery')]);
  assert.deepEqual(await deliveries(payoutId, other.id('merchant')), []);
  assert.equal(await deliveries('none'), 'bad_request');
});
