/** The search: anything by what a person has of it, within the person's reach. */
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

const masks = `update payment set customer_card_mask = '**** **** **** ' || $2, customer_phone_mask = '+7 *** ***-' || $3, public_id = 'P-' || $2
  where merchant_id = $1`;

before(async () => {
  harness = await openGraphHarness();
  const { pool } = harness.database;
  own = await plant(pool, 'own', { merchant: randomUUID(), shop: randomUUID() });
  other = await plant(pool, 'other', { merchant: randomUUID(), shop: randomUUID() });
  await pool.query(masks, [own.id('merchant'), '4821', '77-33']);
  await pool.query(masks, [other.id('merchant'), '4821', '99-11']);
  await pool.query(
    `with of as (update payment set amount = 349000, amount_refunded = 0, fee = 0, created_at = '2026-03-05T09:00:00Z' where merchant_id = $1 returning id)
     update receipt set payment_id = of.id, customer_shown = '{"email": "i***@own.example", "phone": "+7 *** ***-45-67"}' from of where merchant_id = $1`,
    [own.id('merchant')],
  );
});
after(() => harness?.close());

const person = (merchantId: string | null): Principal => ({
  kind: 'operator',
  subject: 'o',
  role: 'viewer',
  merchantId,
});

interface Hit {
  readonly kind: string;
  readonly by: string;
  readonly merchantId: string | null;
  readonly id: string;
  readonly payment: { readonly id: string } | null;
}

const document = parse(
  `query ($text: String!, $merchantId: ID) { hits: search(text: $text, merchantId: $merchantId) {
    kind by merchantId id payment { id orderId } refund { id } payout { id } subscription { id } } }`,
);

const search = async (
  principal: Principal,
  text: string,
  merchantId: string | null = null,
): Promise<readonly Hit[] | string> => {
  const { data, errors } = await harness.supergraph.execute(
    { document, variables: { text, merchantId } },
    { principal, requestId: 'r', isInLane: true },
  );
  if (errors) return String(errors[0]?.extensions['code']);
  const { hits }: { hits: readonly Hit[] } = JSON.parse(JSON.stringify(data));
  return hits;
};

const kindsOf = (hits: readonly Hit[] | string): readonly string[] =>
  typeof hits === 'string' ? [hits] : hits.map(({ kind, by }) => `${kind} by ${by}`).toSorted();

/** What a person has of the first merchant's things, and what is found by it. */
const things = (): Readonly<Record<string, readonly [text: string, found: readonly string[]]>> => ({
  'a payment': [own.id('payment'), ['payment by id']],
  'a payment in capitals, with spaces': [` ${own.id('payment').toUpperCase()} `, ['payment by id']],
  'a refund': [own.id('refund'), ['refund by id']],
  'a payout': [own.id('payout'), ['payout by id']],
  'a subscription': [own.id('subscription'), ['subscription by id']],
  'a token': [own.id('token'), ['token by id']],
  'a link': [own.id('payment_link'), ['payment_link by id']],
  'a delivery': [own.id('webhook_delivery'), ['webhook_delivery by id']],
  'a shop': [own.id('shop'), ['shop by id']],
  'a merchant': [own.id('merchant'), ['merchant by id']],
  'an event': [`evt_${own.id('event')}`, ['event by event_id']],
  'an order': ['own-payment-order_id', ['payment by order_id']],
  'a customer of a payment': ['own-payment-customer_id', ['payment by customer']],
  'a customer of a token': ['own-token-customer_ref', ['token by customer']],
  'an rrn': ['own-payment-rrn', ['payment by rrn']],
  'a request': ['own-audit_entry-request_id', ['audit_entry by request_id']],
  'a phone': ['*7733', ['payment by phone_mask']],
  'the beginning of an order': ['№ own-payment-ord', ['payment by order_id']],
  'a spoken card, an amount and a day': [
    '5 марта, 3 490,00 руб. по карте *4821 ',
    ['payment by day'],
  ],
  'an order and an amount in a sentence': [
    'где деньги за заказ #own-payment-order_id на 3490 ₽?',
    ['payment by order_id'],
  ],
  'digits and an amount': ['4821 3490', ['payment by card_mask']],
  'an e-mail of a receipt': ['Ivanov@own.example', ['payment by receipt_email']],
  'a phone of a receipt and an amount': ['8 (916) 123-45-67 3490', ['payment by receipt_phone']],
  'a whole phone of the payer': ['+7 999 111 77 33', ['payment by phone_mask']],
});

describe('what is found by a text', () => {
  for (const what of [
    'a payment',
    'a payment in capitals, with spaces',
    'a refund',
    'a payout',
    'a subscription',
    'a token',
    'a link',
    'a delivery',
    'a shop',
    'a merchant',
    'an event',
    'an order',
    'a customer of a payment',
    'a customer of a token',
    'an rrn',
    'a request',
    'a phone',
    'the beginning of an order',
    'a spoken card, an amount and a day',
    'an order and an amount in a sentence',
    'digits and an amount',
    'an e-mail of a receipt',
    'a phone of a receipt and an amount',
    'a whole phone of the payer',
  ])
    test(`${what}: by an operator and by its own cabinet user, by no other's`, async () => {
      const [text, found] = things()[what] ?? assert.fail(what);
      const mine = own.id('merchant');
      assert.deepEqual(kindsOf(await search(person(null), text)), found);
      assert.deepEqual(kindsOf(await search(person(null), text, mine)), found);
      assert.deepEqual(kindsOf(await search(person(mine), text)), found);
      assert.deepEqual(await search(person(other.id('merchant')), text), []);
      assert.equal(await search(person(other.id('merchant')), text, mine), 'not_found');
    });

  test('the last digits of a card find payments of all whom the person reaches', async () => {
    for (const text of ['4821', '**** 4821']) {
      const all = await search(person(null), text);
      assert.deepEqual(kindsOf(all), ['payment by card_mask', 'payment by card_mask']);
      const mine = await search(person(own.id('merchant')), text);
      assert(typeof mine !== 'string');
      assert.deepEqual(
        mine.map(({ payment }) => payment?.id),
        [own.id('payment')],
      );
    }
    assert.deepEqual(kindsOf(await search(person(null), 'p-4821')), [
      'payment by public_id',
      'payment by public_id',
    ]);
  });

  test('what is not true of it all finds nothing', async () => {
    for (const text of ['4821 3491', '*4822 3490', '6 марта 3490', 'own-payment-order_id 12,50'])
      assert.deepEqual(await search(person(own.id('merchant')), text), [], text);
  });

  test('what is written with ё or е, composed or not, is found as it is typed', async () => {
    const mine = person(own.id('merchant'));
    const keep = (order: string) =>
      harness.database.pool.query('update payment set order_id = $2 where merchant_id = $1', [
        own.id('merchant'),
        order,
      ]);
    const texts = ['Ёлочный базар-7', ' Елочный базар-7 ', 'Ёлочный базар-7'.normalize('NFD')];
    for (const kept of [...texts, 'Чёрный чай, ещё'])
      for (const typed of texts.includes(kept) ? texts : ['Черный чай, еще', 'Чёрный чай, еще']) {
        await keep(kept.trim());
        assert.deepEqual(kindsOf(await search(mine, typed)), ['payment by order_id'], typed);
      }
    await keep('own-payment-order_id');
  });

  test('what names nothing is not found, and a key does not search', async () => {
    for (const text of ['', '   ', 'nothing', `evt_nothing`, '%', 'x'.repeat(2_000), randomUUID()])
      assert.deepEqual(await search(person(null), text), [], text.slice(0, 20));
    const key: Principal = {
      kind: 'key',
      keyId: '00000000-0000-4000-8000-00000000000a',
      merchantId: own.id('merchant'),
      shopId: own.id('shop'),
      mode: 'test',
      scopes,
    };
    assert.equal(await search(key, own.id('payment')), 'scope_required');
  });
});
