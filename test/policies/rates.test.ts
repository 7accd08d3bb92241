import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import { applyBankAnswer } from '../../subgraphs/payments/bank-answers/apply-bank-answer.ts';
import { admin, finance, holds, openHarness, operator, type Harness } from './harness.ts';

let harness: Harness;
before(async () => void (harness = await openHarness()));
after(() => harness.close());

const setting = `mutation ($m: ID, $s: ID, $method: RatedMethod!, $bps: Int!, $since: DateTime) {
  rateSet(merchantId: $m, shopId: $s, method: $method, rateBps: $bps, since: $since) { ... on RateRecord { id rateBps since } ... on Refused { code message } } }`;
const set = (variables: Record<string, unknown>, principal = finance) =>
  harness.ask('merchants', principal, setting, variables);
const effective = async (key: KeyPrincipal): Promise<number> => {
  const rates = await harness.ask('merchants', key, '{ rates { method rateBps } }');
  return rates.find((rate: { method: string }) => rate.method === 'sbp').rateBps;
};
const reading = `query ($m: ID, $s: ID, $first: Int!, $after: String) {
  rateHistory(merchantId: $m, shopId: $s, method: sbp, first: $first, after: $after) { nodes { rateBps } pageInfo { hasNextPage endCursor } } }`;
const history = (variables: Record<string, unknown>, principal = finance) =>
  harness.ask('merchants', principal, reading, { first: 50, ...variables });

/** A live payment that has just succeeded. */
const succeed = async (key: KeyPrincipal): Promise<{ id: string; fee: bigint | null }> => {
  const creating =
    'mutation { paymentCreate(input: { amount: 10000, method: any }) { ... on PaymentCreated { payment { id } } } }';
  const { id } = (await harness.ask('payments', key, creating)).payment;
  await harness.rows(
    "update payment set status = 'processing', method = 'sbp', processing_until = now() where id = $1",
    [id],
  );
  const traits = {
    cardBrand: null,
    cardMask: null,
    cardHolder: null,
    phoneMask: null,
    payerBank: null,
  };
  const answer = { kind: 'approved' as const, reference: 'r', rrn: null, traits };
  const paid = await applyBankAnswer(
    harness.database,
    { merchantId: key.merchantId, paymentId: id },
    'bank',
    answer,
    harness.now(),
  );
  if (isRefusal(paid)) throw new Error(paid.message);
  return { id, fee: paid.fee };
};

test('the most specific rate wins: shop over merchant over platform, per method', async () => {
  const key = await harness.merchant('live');
  const level = { m: key.merchantId, method: 'sbp' };
  assert.equal(await effective(key), 70, 'the platform’s');
  assert.equal((await set({ ...level, bps: 60 })).rateBps, 60);
  assert.equal(await effective(key), 60);
  await set({ ...level, s: key.shopId, bps: 0 });
  assert.equal(await effective(key), 0, 'a rate of nothing is a rate');
  harness.pass({ seconds: 1 });
  await set({ ...level, bps: 90 });
  assert.equal(await effective(key), 0, 'a younger rate of a wider level changes nothing');
  assert.equal(
    await effective(await harness.merchant('live')),
    70,
    'another merchant keeps the platform’s',
  );
});

test('a merchant’s people see which rates are in force, and where each was set', async () => {
  const key = await harness.merchant('live');
  await set({ m: key.merchantId, method: 'cards', bps: 250 });
  await set({ m: key.merchantId, s: key.shopId, method: 'sbp', bps: 55 });
  const { effectiveRates } = await harness.ask(
    'merchants',
    operator('viewer'),
    'query ($m: ID!, $s: ID!) { shop(merchantId: $m, id: $s) { effectiveRates { method rateBps level since } } }',
    { m: key.merchantId, s: key.shopId },
  );
  const of = (wanted: string) =>
    effectiveRates.find(({ method }: { method: string }) => method === wanted);
  assert.deepEqual([of('sbp').rateBps, of('sbp').level], [55, 'shop']);
  assert.deepEqual([of('cards').rateBps, of('cards').level], [250, 'merchant']);
  assert.deepEqual([of('tpay').rateBps, of('tpay').level], [250, 'platform']);
  const none = { method: 'payouts_card', rateBps: 0, level: 'platform', since: null };
  assert.deepEqual({ ...of('payouts_card') }, none);
});

test('a later rate changes no earlier payment, and a future one begins at its moment', async () => {
  const key = await harness.merchant('live');
  const early = await succeed(key);
  assert.equal(early.fee, 70n);
  harness.pass({ seconds: 1 });
  await set({
    m: key.merchantId,
    method: 'sbp',
    bps: 500,
    since: harness.now().add({ seconds: 10 }).toString(),
  });
  harness.pass({ milliseconds: 9_999 });
  assert.equal((await succeed(key)).fee, 70n, 'a millisecond before');
  harness.pass({ milliseconds: 1 });
  assert.equal((await succeed(key)).fee, 500n, 'at the moment');
  const [stored] = await harness.rows('select fee, fee_rate_bps from payment where id = $1', [
    early.id,
  ]);
  assert.deepEqual(stored, { fee: '70', fee_rate_bps: 70 });
});

test('a moment that is past and a rate out of range are refused, and nothing is written', async () => {
  const { merchantId, shopId } = await harness.merchant();
  const level = { m: merchantId, method: 'sbp', bps: 1 };
  const wrong = [
    { ...level, since: harness.now().subtract({ milliseconds: 1 }).toString() },
    { ...level, bps: 10_001 },
    { ...level, bps: -1 },
    { ...level, m: null, s: shopId },
  ];
  for (const variables of wrong)
    assert.equal((await set(variables)).code, 'bad_request', JSON.stringify(variables));
  assert.equal((await set({ ...level, m: shopId })).code, 'not_found');
  assert.equal((await set({ ...level, s: merchantId })).code, 'not_found');
  assert.deepEqual(
    await harness.rows('select 1 from rate where merchant_id = $1', [merchantId]),
    [],
  );
  assert.deepEqual(
    await harness.rows('select 1 from audit_entry where merchant_id = $1 and actor <> $$test$$', [
      merchantId,
    ]),
    [],
  );
});

test('payouts have rates of their own, which the list of the contract does not show', async () => {
  const key = await harness.merchant();
  assert.equal((await set({ m: key.merchantId, method: 'payouts_card', bps: 150 })).rateBps, 150);
  const rates = await harness.ask('merchants', key, '{ rates { method } }');
  assert.equal(rates.length, 5);
});

test('a rate that has not begun can be replaced, one that has begun cannot; each change is in the audit log', async () => {
  const { merchantId } = await harness.merchant();
  const since = harness.now().add({ hours: 1 }).toString();
  await set({ m: merchantId, method: 'sbp', bps: 10, since });
  await set({ m: merchantId, method: 'sbp', bps: 20, since });
  holds(await history({ m: merchantId }), 'rateBps', [20]);
  await set({ m: merchantId, method: 'sbp', bps: 30 });
  assert.equal((await set({ m: merchantId, method: 'sbp', bps: 40 })).code, 'bad_request');
  const audits = await harness.rows(
    'select actor, action, before, after from audit_entry where merchant_id = $1 and actor <> $$test$$ order by id',
    [merchantId],
  );
  assert.deepEqual(
    audits.map(({ actor, action, before: was, after: is }) => [
      actor,
      action,
      was?.rateBps ?? null,
      is.rateBps,
    ]),
    [
      ['finance@example.com', 'rate.set', null, 10],
      ['finance@example.com', 'rate.set', 10, 20],
      ['finance@example.com', 'rate.set', null, 30],
    ],
  );
});

test('of fifty rates set for the same moment at once one is left', async () => {
  const { merchantId } = await harness.merchant();
  const since = harness.now().add({ hours: 1 }).toString();
  await Promise.all(
    Array.from({ length: 50 }, (_, bps) => set({ m: merchantId, method: 'sbp', bps, since })),
  );
  assert.equal(
    (await harness.rows('select 1 from rate where merchant_id = $1', [merchantId])).length,
    1,
  );
});

test('the history is read in pages, by operators; a cabinet user reads its own and sets none', async () => {
  const { merchantId, shopId } = await harness.merchant();
  for (const hours of [1, 2, 3]) {
    const level = { m: merchantId, s: hours === 2 ? shopId : null, method: 'sbp' };
    assert.equal(
      (await set({ ...level, bps: hours, since: harness.now().add({ hours }).toString() })).rateBps,
      hours,
    );
  }
  const first = await history({ m: merchantId, first: 2 });
  holds(first, 'rateBps', [3, 2]);
  const cabinet = operator('admin', merchantId);
  holds(
    await history({ first: 2, after: first.pageInfo.endCursor, m: merchantId }, cabinet),
    'rateBps',
    [1],
  );
  holds(await history({ m: merchantId, s: shopId }), 'rateBps', [2]);
  assert.equal(
    (await history({ m: (await harness.merchant()).merchantId }, cabinet)).error,
    'not_found',
  );
  assert.equal(
    (await history({ first: 2, after: first.pageInfo.endCursor })).error,
    'bad_request',
    'a cursor of another list',
  );
  assert.equal((await set({ m: merchantId, method: 'sbp', bps: 0 }, cabinet)).error, 'forbidden');
  assert.equal(
    (await set({ m: merchantId, method: 'sbp', bps: 0 }, operator('support'))).error,
    'forbidden',
  );
  assert.equal((await set({ m: merchantId, method: 'sbp', bps: 0 }, admin)).rateBps, 0);
});
