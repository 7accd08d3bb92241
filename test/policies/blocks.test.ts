import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  forbiddenWord,
  Policies,
  purposeSearch,
} from '../../subgraphs/platform/policies/policies.ts';
import { blockValue } from '../../subgraphs/rules/block.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { countStatements } from '../support/count-statements.ts';
import { admin, holds, openHarness, operator, type Harness } from './harness.ts';
import { comesTo } from '../support/eventually.ts';

let harness: Harness;
before(async () => void (harness = await openHarness()));
after(() => harness.close());

const blocking = `mutation ($m: ID, $kind: BlockKind!, $value: String!, $reason: String! = "fraud") {
  blockEntryAdd(merchantId: $m, kind: $kind, value: $value, reason: $reason) { ... on BlockEntry { id shown merchantId } ... on Refused { code message } } }`;
const block = (variables: Record<string, unknown>, principal = admin) =>
  harness.ask('merchants', principal, blocking, variables);
const unblocking =
  'mutation ($m: ID, $id: ID!) { blockEntryRemove(merchantId: $m, id: $id) { ... on PolicyRemoved { id } ... on Refused { code } } }';
const forbidding =
  'mutation ($word: String!) { forbiddenPurposeAdd(word: $word, reason: "law") { ... on ForbiddenPurpose { id word } ... on Refused { code } } }';
const forbid = (word: string) => harness.ask('merchants', admin, forbidding, { word });

const creating = `mutation ($input: PaymentCreateInput!, $key: Idempotency) {
  paymentCreate(input: $input, idempotency: $key) { ... on PaymentCreated { idempotent payment { id } } ... on Refused { code message } } }`;
const create = (
  key: KeyPrincipal,
  input: Record<string, unknown>,
  idempotency: string | null = null,
) =>
  harness.ask('payments', key, creating, {
    input: { amount: 100, ...input },
    key: idempotency && { key: idempotency },
  });

/** Waits until another process obeys: a list may be stale for a second. */
const obeyed = (look: () => Promise<boolean>): Promise<void> => comesTo(true, look);

test('a blocked customer is refused within a second in every process, before anything is created, and allowed again', async () => {
  const key = await harness.merchant();
  assert.ok((await create(key, { customerId: 'crook' })).payment);
  const { id } = await block({ kind: 'customer', value: 'crook' });
  await obeyed(async () => (await create(key, { customerId: 'crook' })).code === 'aml_blocked');
  const made = await harness.rows(
    'select count(*)::int as payments, max(public_id) as last from payment where merchant_id = $1',
    [key.merchantId],
  );
  const hinted = await create(key, { metadata: { customer_id: 'crook' } }, 'k');
  assert.equal(hinted.code, 'aml_blocked', 'the reserved metadata key names the customer as well');
  assert.deepEqual(
    await harness.rows(
      'select count(*)::int as payments, max(public_id) as last from payment where merchant_id = $1',
      [key.merchantId],
    ),
    made,
  );
  assert.deepEqual(
    await harness.rows('select 1 from idempotency_key where merchant_id = $1', [key.merchantId]),
    [],
    'the key is free',
  );
  assert.ok((await create(key, { customerId: 'honest' })).payment);
  assert.deepEqual(await harness.ask('merchants', admin, unblocking, { id }), { id });
  await obeyed(async () => 'payment' in (await create(key, { customerId: 'crook' })));
});

test('what a merchant blocks is blocked for that merchant alone', async () => {
  const [key, other] = [await harness.merchant(), await harness.merchant()];
  const support = operator('support', key.merchantId);
  assert.equal(
    (await block({ kind: 'customer', value: 'own' }, support)).merchantId,
    key.merchantId,
    'a cabinet user’s list is its own',
  );
  await obeyed(async () => (await create(key, { customerId: 'own' })).code === 'aml_blocked');
  assert.ok((await create(other, { customerId: 'own' })).payment);
  assert.equal(
    (await block({ m: other.merchantId, kind: 'customer', value: 'x' }, support)).code,
    'not_found',
  );
  const listing = 'query ($m: ID) { blockEntries(merchantId: $m) { nodes { shown } } }';
  holds(await harness.ask('merchants', support, listing), 'shown', ['own']);
  assert.equal(
    (await harness.ask('merchants', support, listing, { m: other.merchantId })).error,
    'not_found',
  );
});

test('a payment that was created before its customer was blocked is still answered to the repeated call', async () => {
  const key = await harness.merchant();
  const first = await create(key, { customerId: 'later' }, 'once');
  await block({ m: key.merchantId, kind: 'customer', value: 'later' });
  await obeyed(async () => (await create(key, { customerId: 'later' })).code === 'aml_blocked');
  const again = await create(key, { customerId: 'later' }, 'once');
  assert.deepEqual([again.idempotent, again.payment.id], [true, first.payment.id]);
});

test('a blocked card is refused on the hosted page and the payment stays pending; its number is kept nowhere', async () => {
  const key = await harness.merchant();
  const number = '4276000000000009';
  const entry = await block({ kind: 'card', value: '4276 0000 0000 0009' });
  assert.equal(entry.shown, '0009');
  assert.equal(
    (await block({ kind: 'card', value: number })).id,
    entry.id,
    'the same card in another spelling',
  );
  const { payment } = await create(key, { method: 'cards' });
  const buyer = { kind: 'buyer', merchantId: key.merchantId, paymentId: payment.id } as const;
  const paying =
    'mutation ($card: CardInput!) { checkoutPay(card: $card) { ... on Checkout { status } ... on Refused { code } } }';
  const pay = (typed: string) =>
    harness.ask('payments', buyer, paying, {
      card: { number: typed, expiry: '12/30', cvc: '123', holder: 'A B' },
    });
  await obeyed(async () =>
    (await harness.farPolicies.current()).isBlocked(key.merchantId, 'card', number),
  );
  assert.equal((await pay('4276-0000-0000-0009')).code, 'aml_blocked');
  assert.deepEqual(await harness.rows('select status from payment where id = $1', [payment.id]), [
    { status: 'pending' },
  ]);
  assert.equal((await pay('4111111111111111')).status, 'processing', 'another card continues');
  const kept = await harness.rows(
    'select to_jsonb(b)::text as text from block_entry b union all select to_jsonb(a)::text from audit_entry a',
  );
  assert.ok(
    kept.length > 1 &&
      kept.every(({ text }) => !/42760{8}|(?<![0-9a-f-])42760000(?![0-9a-f-])/.test(text)),
  );
});

test('a value that is none of its kind is refused without being repeated, and is in no list', async () => {
  const wrong = [
    ['card', '4276000000000008'],
    ['phone', '12'],
    ['country', 'RUS'],
    ['account', '1'],
    ['customer', ''],
  ] as const;
  for (const [kind, value] of wrong) {
    const { code, message } = await block({ kind, value });
    assert.equal(code, 'bad_request', kind);
    assert.ok(!value || !message.includes(value), message);
  }
  assert.equal((await block({ kind: 'country', value: 'KP', reason: '' })).code, 'bad_request');
  // A text that no record can hold does not reach the operation.
  assert.equal((await block({ kind: 'customer', value: 'a\0b' })).error, 'bad_request');
  assert.equal(
    (await block({ kind: 'customer', value: 'x' }, operator('viewer'))).error,
    'forbidden',
  );
});

test('a value has one spelling, and a fingerprint depends on the key', () => {
  const [key, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const one = { value: '79001234567', shown: '+79001234567' };
  for (const phone of [
    '+79001234567',
    '8 (900) 123-45-67',
    '900 123-45-67',
    '00 7 900 123 45 67',
    '8 10 7 900 123-45-67',
    '+7\u00a0900\u00a0123‑45‑67',
    '79001234567',
    '+8 900 123 45 67',
  ])
    assert.deepEqual(blockValue(key, 'phone', phone), one, phone);
  assert.equal(blockValue(key, 'phone', '8 495 123-45-67')?.shown, '+74951234567');
  assert.equal(blockValue(key, 'phone', '+375 29 123-45-67')?.shown, '+375291234567');
  assert.equal(blockValue(key, 'phone', '00 84 91 234 56 78')?.shown, '+84912345678');
  for (const phone of ['123-45-67', '+7 900 123 45', '7900123456789', '212 555 1234', 'phone'])
    assert.equal(blockValue(key, 'phone', phone), null, phone);
  assert.deepEqual(blockValue(key, 'country', 'kp'), { value: 'KP', shown: 'KP' });
  const account = blockValue(key, 'account', '40817 810 0 9991 0004312');
  assert.equal(account?.shown, '4312');
  assert.match(account?.value ?? '', /^[0-9a-f]{64}$/);
  assert.notEqual(account?.value, blockValue(other, 'account', '40817810099910004312')?.value);
});

test('a forbidden word refuses a description within a second, and is allowed again', async () => {
  const key = await harness.merchant();
  const { id, word } = await forbid('КАЗИНО');
  assert.equal(word, 'казино');
  await obeyed(
    async () =>
      (await create(key, { description: 'Ставка, Казино!' })).code === 'forbidden_purpose',
  );
  assert.match((await create(key, { description: 'Ставка, Казино!' })).message, /казино/);
  assert.ok(
    (await create(key, { description: 'Суперказиночный чай' })).payment,
    'a word within a word is another word',
  );
  assert.equal((await forbid('казино')).id, id, 'a word is on the list once');
  holds(await harness.ask('merchants', admin, '{ forbiddenPurposes { nodes { word } } }'), 'word', [
    'казино',
  ]);
  const allowing =
    'mutation ($id: ID!) { forbiddenPurposeRemove(id: $id) { ... on PolicyRemoved { id } ... on Refused { code } } }';
  assert.deepEqual(await harness.ask('merchants', admin, allowing, { id }), { id });
  assert.deepEqual(await harness.ask('merchants', admin, allowing, { id }), { code: 'not_found' });
  await obeyed(async () => 'payment' in (await create(key, { description: 'Казино' })));
});

test('words are found whole, in any case and script, through invisible characters; `*` stands for an ending', () => {
  const finds = (words: readonly string[], text: string): boolean =>
    purposeSearch(words.map((word) => forbiddenWord(word) ?? assert.fail(word)))(text) !== null;
  assert.ok(finds(['casino'], 'A CASINO.'));
  assert.ok(finds(['casino'], 'ｃａｓｉｎｏ'), 'full-width letters are the same letters');
  assert.ok(finds(['casino'], 'cas\u200Bino'));
  assert.ok(!finds(['casino'], 'casinos'));
  assert.ok(finds(['наркоти*'], 'оплата наркотиков'));
  assert.ok(!finds(['наркоти*'], 'антинаркотический'));
  assert.ok(finds(['buy  votes'], 'to buy\nvotes'));
  assert.ok(finds(['учет'], 'Бухгалтерский УЧЁТ'), 'ё is е');
  assert.ok(finds(['Полёт*'], 'полетов'));
  assert.ok(finds([' Займ '], 'займ'.normalize('NFD')), 'letters are composed');
  assert.ok(finds(['c++'], 'a c++ course'), 'signs are signs');
  assert.ok(!finds([], 'anything'));
  for (const word of ['', '  ', '*', '***', 'a*b', '!', 'a\0', 'x'.repeat(201)])
    assert.equal(forbiddenWord(word), null, word);
});

test('a process that hears nothing of a change obeys it within a second all the same', async () => {
  const deaf = { publish: async () => {}, subscribe: () => () => {} };
  const policies = new Policies({
    pool: harness.database.pool,
    bus: deaf,
    fingerprintKey: Buffer.alloc(32),
  });
  const blocked = async (): Promise<boolean> =>
    (await policies.current()).isBlocked('m', 'customer', 'unheard');
  assert.equal(await blocked(), false);
  await block({ kind: 'customer', value: 'unheard' });
  await obeyed(blocked);
});

test('the lists cost a call nothing: a thousand calls within half a second ask the database once', async (t) => {
  const { pool } = harness.database;
  const counted = countStatements(pool);
  t.mock.method(performance, 'now', () => 0);
  const policies = new Policies({
    pool,
    bus: { publish: async () => {}, subscribe: () => () => {} },
    fingerprintKey: Buffer.alloc(32),
  });
  await Promise.all(Array.from({ length: 500 }, () => policies.current()));
  for (let call = 0; call < 500; call++) await policies.current();
  assert.equal(counted.texts.length, 1);
});
