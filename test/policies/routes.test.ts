import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { admin, finance, holds, openHarness, operator, type Harness } from './harness.ts';

let harness: Harness;
// Two acquirers of live mode that answer as the simulator does, one of which takes cards alone.
before(
  async () =>
    void (harness = await openHarness((simulator) => [
      { ...simulator, connector: 'first_bank', bankName: 'First', methods: ['sbp', 'cards'] },
      { ...simulator, connector: 'card_bank', bankName: 'Cards', methods: ['cards'] },
    ])),
);
after(() => harness.close());

const setting = `mutation ($m: ID!, $s: ID!, $mode: Mode! = live, $operation: BankOperation! = payment, $method: RouteMethod!, $connector: String!, $priority: Int! = 0, $active: Boolean! = true) {
  bankRouteSet(merchantId: $m, shopId: $s, mode: $mode, operation: $operation, method: $method, connector: $connector, priority: $priority, active: $active) {
    ... on BankRoute { id priority active } ... on Refused { code message } } }`;
const set = (
  { merchantId, shopId }: KeyPrincipal,
  variables: Record<string, unknown>,
  principal = admin,
) => harness.ask('merchants', principal, setting, { m: merchantId, s: shopId, ...variables });

/** What happens when a buyer continues to the bank with a new payment. */
const pay = async (key: KeyPrincipal, method: string): Promise<string> => {
  const creating =
    'mutation ($method: PaymentMethod!) { paymentCreate(input: { amount: 10000, method: $method }) { ... on PaymentCreated { payment { id } } ... on Refused { code } } }';
  const { payment, code } = await harness.ask('payments', key, creating, { method });
  if (code) return code;
  const card = { number: '4111111111111111', expiry: '12/30', cvc: '123', holder: 'A B' };
  const buyer = { kind: 'buyer', merchantId: key.merchantId, paymentId: payment.id } as const;
  const paying =
    'mutation ($card: CardInput) { checkoutPay(card: $card) { ... on Checkout { status } ... on Refused { code } } }';
  const paid = await harness.ask('payments', buyer, paying, {
    card: method === 'cards' ? card : null,
  });
  if (paid.code) return paid.code;
  const [row] = await harness.rows('select connector, bank_name from payment where id = $1', [
    payment.id,
  ]);
  return `${row.connector} ${row.bank_name}`;
};

test('a test payment always goes to the simulator, and a live one nowhere without a route', async () => {
  assert.equal(await pay(await harness.merchant('test'), 'cards'), 'simulator Simulator');
  assert.equal(await pay(await harness.merchant('live'), 'cards'), 'route_not_configured');
});

test('the shop’s active route with the lowest priority decides, for its method and operation alone', async () => {
  const key = await harness.merchant('live');
  await set(key, { method: 'cards', connector: 'first_bank', priority: 2 });
  await set(key, { method: 'cards', connector: 'card_bank', priority: 1 });
  assert.equal(await pay(key, 'cards'), 'card_bank Cards');
  assert.equal(await pay(key, 'sbp'), 'route_not_configured');
  await set(key, { method: 'cards', connector: 'card_bank', active: false });
  assert.equal(await pay(key, 'cards'), 'first_bank First');
  await set(key, { method: 'sbp', operation: 'refund', connector: 'first_bank' });
  assert.equal(
    await pay(key, 'sbp'),
    'route_not_configured',
    'a route of refunds is none of payments',
  );
  assert.equal(
    await pay(await harness.merchant('live'), 'cards'),
    'route_not_configured',
    'nor one of another shop',
  );
});

test('a route to a connector that this installation has not is passed over', async () => {
  const key = await harness.merchant('live');
  await set(key, { method: 'cards', connector: 'unknown_bank' });
  assert.equal(await pay(key, 'cards'), 'route_not_configured');
  await set(key, { method: 'cards', connector: 'first_bank', priority: 5 });
  assert.equal(await pay(key, 'cards'), 'first_bank First');
});

test('a bank that does not take the routed method refuses it, and the page does not offer it', async () => {
  const key = await harness.merchant('live');
  await set(key, { method: 'sbp', connector: 'card_bank' });
  await set(key, { method: 'cards', connector: 'card_bank' });
  assert.equal(await pay(key, 'sbp'), 'method_unsupported');
  const { payment } = await harness.ask(
    'payments',
    key,
    'mutation { paymentCreate(input: { amount: 1 }) { ... on PaymentCreated { payment { id } } } }',
  );
  const page = await harness.ask(
    'payments',
    { kind: 'buyer', merchantId: key.merchantId, paymentId: payment.id },
    '{ checkout { methods } }',
  );
  assert.deepEqual(page.methods, ['cards']);
});

test('what a bank has already is asked there, whatever the routes are by then', async () => {
  const holding = harness.banks.bankOf({ mode: 'live', connector: 'card_bank' });
  assert.equal('connector' in holding && holding.connector, 'card_bank');
  const gone = harness.banks.bankOf({ mode: 'live', connector: 'unknown_bank' });
  assert.equal('code' in gone && gone.code, 'route_not_configured');
});

test('wrong routes are refused, and only the platform’s admins set any', async () => {
  const key = await harness.merchant('live');
  const other = await harness.merchant('live');
  const right = { method: 'cards', connector: 'first_bank' };
  for (const wrong of [
    { mode: 'test' },
    { method: 'card' },
    { operation: 'payout' },
    { connector: 'No Name' },
    { priority: -1 },
  ]) {
    assert.equal(
      (await set(key, { ...right, ...wrong })).code,
      'bad_request',
      JSON.stringify(wrong),
    );
  }
  assert.equal((await set({ ...key, shopId: other.shopId }, right)).code, 'not_found');
  assert.equal((await set(key, right, finance)).error, 'forbidden');
  assert.equal((await set(key, right, operator('admin', key.merchantId))).error, 'forbidden');
});

test('a route is listed, changed in place, removed once, and each change is in the audit log', async () => {
  const key = await harness.merchant('live');
  const { merchantId } = key;
  const { id } = await set(key, { method: 'cards', connector: 'first_bank' });
  assert.equal((await set(key, { method: 'cards', connector: 'first_bank', priority: 7 })).id, id);
  const listing = 'query ($m: ID!) { bankRoutes(merchantId: $m) { nodes { id priority } } }';
  holds(await harness.ask('merchants', admin, listing, { m: merchantId }), 'priority', [7]);
  const removing =
    'mutation ($m: ID!, $id: ID!) { bankRouteRemove(merchantId: $m, id: $id) { ... on PolicyRemoved { id } ... on Refused { code } } }';
  assert.deepEqual(await harness.ask('merchants', admin, removing, { m: merchantId, id }), { id });
  assert.deepEqual(await harness.ask('merchants', admin, removing, { m: merchantId, id }), {
    code: 'not_found',
  });
  const audits = await harness.rows(
    'select action, before, after from audit_entry where merchant_id = $1 and actor <> $$test$$ order by id',
    [merchantId],
  );
  assert.deepEqual(
    audits.map(({ action, before: was, after: is }) => [
      action,
      was?.priority ?? null,
      is?.priority ?? null,
    ]),
    [
      ['bank_route.set', null, 0],
      ['bank_route.set', 0, 7],
      ['bank_route.remove', 7, null],
    ],
  );
});
