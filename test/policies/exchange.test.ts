import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { exchangeRate, usdtOf } from '../../subgraphs/rules/money.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { admin, finance, holds, openHarness, operator, type Harness } from './harness.ts';
import { comesTo } from '../support/eventually.ts';

let harness: Harness;
before(async () => void (harness = await openHarness()));
after(() => harness.close());

const setting = `mutation ($currency: String!, $usdt: String!, $since: DateTime) {
  exchangeRateSet(currency: $currency, usdt: $usdt, since: $since) { ... on ExchangeRate { id usdt since } ... on Refused { code message } } }`;
const set = (variables: Record<string, unknown>, principal = finance) =>
  harness.ask('merchants', principal, setting, variables);
const worth = async (
  key: KeyPrincipal,
  amount: number,
  currency: string,
): Promise<number | null> => {
  const creating = `mutation ($input: PaymentCreateInput!) { paymentCreate(input: $input) { ... on PaymentCreated { payment { id amountUsdt } } ... on Refused { message } } }`;
  const { payment } = await harness.ask('payments', key, creating, { input: { amount, currency } });
  const [stored] = await harness.rows('select amount_usdt from payment where id = $1', [
    payment.id,
  ]);
  assert.equal(stored.amount_usdt, payment.amountUsdt);
  return payment.amountUsdt;
};

test('a payment is worth what its currency was worth when it was created, and keeps that', async () => {
  const key = await harness.merchant();
  assert.equal(await worth(key, 10_000, 'RUB'), null, 'without a rate');
  assert.equal((await set({ currency: 'RUB', usdt: '0.012500' })).usdt, '0.0125');
  await comesTo(1.25, () => worth(key, 10_000, 'RUB'));
  assert.equal(await worth(key, 10_000, 'USD'), null, 'another currency has no rate');
  const since = harness.now().add({ seconds: 10 });
  await set({ currency: 'RUB', usdt: '0.02', since: since.toString() });
  // The payments subgraph knows it.
  await comesTo(2, async () => (await harness.farPolicies.current()).inUsdt(10_000n, 'RUB', since));
  harness.pass({ milliseconds: 9_999 });
  assert.equal(await worth(key, 10_000, 'RUB'), 1.25, 'a rate that has not begun');
  harness.pass({ milliseconds: 1 });
  await comesTo(2, () => worth(key, 10_000, 'RUB'));
  const kept = await harness.rows(
    'select distinct amount_usdt from payment where merchant_id = $1 and currency = $2 order by 1 nulls first',
    [key.merchantId, 'RUB'],
  );
  assert.deepEqual(kept, [{ amount_usdt: null }, { amount_usdt: 1.25 }, { amount_usdt: 2 }]);
});

test('the worth is exact, rounded half up to six digits, in the currency’s own minor unit', () => {
  const of = (amount: bigint, currency: string, rate: string): number =>
    usdtOf(amount, currency, exchangeRate(rate) ?? assert.fail(rate));
  assert.equal(of(1n, 'RUB', '0.00005'), 0.000001, '0.0000005 is half');
  assert.equal(of(1n, 'RUB', '0.000049999999'), 0);
  assert.equal(of(100n, 'JPY', '0.0067'), 0.67, 'no minor unit');
  assert.equal(of(1_000n, 'KWD', '3.25'), 3.25, 'three digits');
  assert.equal(of(9_007_199_254_740_991n, 'USD', '1'), 90_071_992_547_409.91);
  assert.equal(of(12_345n, 'EUR', '1.08571428'), 134.031428);
  for (const wrong of [
    '',
    '0',
    '0.0',
    '-1',
    '1e3',
    '.5',
    '1.',
    '1,5',
    '0.0000000000001',
    '1234567890',
    ' 1',
    'NaN',
  ])
    assert.equal(exchangeRate(wrong), null, wrong);
});

test('wrong rates are refused; finance sets them, operators and cabinet users read them', async () => {
  const asked = (variables: Record<string, unknown>, principal = finance) =>
    harness.ask('merchants', principal, setting, variables);
  for (const wrong of [
    { currency: 'XXY' },
    { currency: 'eur' },
    { usdt: '0' },
    { usdt: 'one' },
    { since: harness.now().subtract({ seconds: 1 }).toString() },
  ]) {
    assert.equal(
      (await asked({ currency: 'EUR', usdt: '1', ...wrong })).code,
      'bad_request',
      JSON.stringify(wrong),
    );
  }
  assert.equal(
    (await asked({ currency: 'EUR', usdt: '1' }, operator('support'))).error,
    'forbidden',
  );
  assert.equal(
    (
      await asked(
        { currency: 'EUR', usdt: '1' },
        operator('admin', (await harness.merchant()).merchantId),
      )
    ).error,
    'forbidden',
  );
  assert.equal((await asked({ currency: 'EUR', usdt: '1.08' })).usdt, '1.08');
  assert.equal(
    (await asked({ currency: 'EUR', usdt: '1.09' })).code,
    'bad_request',
    'one has begun at this moment',
  );
  const since = harness.now().add({ hours: 1 }).toString();
  for (const usdt of ['1.1', '01.200']) await asked({ currency: 'EUR', usdt, since });
  const [entry] = await harness.rows(
    "select before, after from audit_entry where action = 'exchange_rate.set' order by id desc",
  );
  assert.deepEqual(entry, {
    before: { usdt: '1.1', since },
    after: { usdt: '01.200', since, currency: 'EUR' },
  });
  const listing = '{ exchangeRates(currency: "EUR") { nodes { usdt } } }';
  holds(await harness.ask('merchants', admin, listing), 'usdt', ['1.2', '1.08']);
  holds(
    await harness.ask(
      'merchants',
      operator('viewer', (await harness.merchant()).merchantId),
      listing,
    ),
    'usdt',
    ['1.2', '1.08'],
  );
});
