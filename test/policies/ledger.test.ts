import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { foldBacklog, foldBalances } from '../../subgraphs/ledger/fold.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { finance, openHarness, operator, type Harness } from './harness.ts';

let harness: Harness;
before(async () => void (harness = await openHarness()));
after(() => harness.close());

const answer =
  '{ ... on LedgerRecorded { repeated entry { id type amount description } } ... on Refused { code message } }';
const settling = `mutation ($m: ID!, $s: ID!, $mode: Mode!, $amount: MinorUnits!, $reference: String!) {
  settlementRecord(merchantId: $m, shopId: $s, mode: $mode, amount: $amount, reference: $reference) ${answer} }`;
const adjusting = `mutation ($m: ID!, $s: ID!, $mode: Mode!, $amount: SignedMinorUnits!, $reason: String! = "Correction", $reference: String!) {
  adjustmentRecord(merchantId: $m, shopId: $s, mode: $mode, amount: $amount, reason: $reason, reference: $reference) ${answer} }`;

const named = ({ merchantId, shopId, mode }: KeyPrincipal) => ({ m: merchantId, s: shopId, mode });
const settle = (key: KeyPrincipal, amount: number, reference: string, principal = finance) =>
  harness.ask('merchants', principal, settling, { ...named(key), amount, reference });
const adjust = (key: KeyPrincipal, amount: number, reference: string, reason = 'Correction') =>
  harness.ask('merchants', finance, adjusting, { ...named(key), amount, reason, reference });
const available = async (key: KeyPrincipal): Promise<number> =>
  (await harness.ask('merchants', key, '{ balance { available } }')).available;

/**
 * The sum over a merchant's postings of what each account gained; the merchant's own must be its
 * balance.
 */
const booked = async (key: KeyPrincipal): Promise<Record<string, number>> => {
  const rows = await harness.rows(
    `select account, sum(amount)::int as amount from (select to_account as account, amount from posting where merchant_id = $1
      union all select from_account, -amount from posting where merchant_id = $1) moves group by account`,
    [key.merchantId],
  );
  const sums = Object.fromEntries(rows.map(({ account, amount }) => [account, amount]));
  assert.equal(
    Object.values<number>(sums).reduce((sum, amount) => sum + amount, 0),
    0,
    'the books balance',
  );
  return sums;
};

test('a settlement and an adjustment are in the ledger with their signs and descriptions, and move the balance', async () => {
  const key = await harness.merchant('live');
  const credited = await adjust(key, 10_000, 'a1', 'Compensation of 3 November');
  assert.deepEqual(
    { ...credited, entry: { ...credited.entry, id: '' } },
    {
      repeated: false,
      entry: {
        id: '',
        type: 'adjustment',
        amount: 10_000,
        description: 'Compensation of 3 November',
      },
    },
  );
  await settle(key, 4_000, 'payment order 17');
  await adjust(key, -500, 'a2');
  const ledger = await harness.ask(
    'merchants',
    key,
    '{ ledger { nodes { type amount description paymentId } } }',
  );
  assert.deepEqual(
    new Set(
      ledger.nodes.map(
        (entry: { type: string; amount: number; description: string }) =>
          `${entry.type} ${entry.amount} ${entry.description}`,
      ),
    ),
    new Set([
      'adjustment 10000 Compensation of 3 November',
      'settlement -4000 payment order 17',
      'adjustment -500 Correction',
    ]),
  );
  assert.equal(await available(key), 5_500);
  assert.deepEqual(await booked(key), {
    merchant: 5_500,
    suspense: -9_500,
    payout_clearing: 4_000,
  });
});

test('a settlement cannot take more than is available, an adjustment can', async () => {
  const key = await harness.merchant('live');
  await adjust(key, 100, 'a1');
  assert.equal((await settle(key, 101, 's1')).code, 'insufficient_balance');
  assert.equal((await settle(key, 100, 's1')).entry.amount, -100, 'a refused reference is free');
  assert.equal((await adjust(key, -300, 'a2')).entry.amount, -300);
  assert.equal(await available(key), -300);
  assert.equal((await settle(key, 1, 's2')).code, 'insufficient_balance');
});

test('a reference is booked once; the same with other terms is a conflict', async () => {
  const key = await harness.merchant('live');
  await adjust(key, 1_000, 'r');
  const first = await settle(key, 300, 'r');
  const again = await settle(key, 300, 'r');
  assert.deepEqual([again.repeated, again.entry.id], [true, first.entry.id]);
  assert.equal((await settle(key, 301, 'r')).code, 'idempotent_conflict');
  assert.equal((await adjust(key, -1_000, 'r')).code, 'idempotent_conflict');
  assert.equal(await available(key), 700);
  const other = await harness.merchant('live');
  assert.equal((await adjust(other, 5, 'r')).repeated, false, 'a reference is the merchant’s own');
});

test('fifty settlements at once never overdraw: what was booked is what was available, whatever the fold does meanwhile', async () => {
  const key = await harness.merchant('live');
  for (let round = 0; round < 3; round++) {
    const before = await available(key);
    await adjust(key, 1_000 - before, `fill ${round}`);
    const folding = foldBalances(harness.database.pool);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => settle(key, 90, `${round}/${index}`)),
    );
    await folding;
    assert.equal(answers.filter(({ entry }) => entry).length, 11, '11 times 90 of 1,000');
    assert.equal(answers.filter(({ code }) => code === 'insufficient_balance').length, 39);
    assert.equal(await available(key), 10);
  }
  const sums = await booked(key);
  assert.deepEqual([sums['merchant'], sums['payout_clearing']], [10, 3 * 990]);
});

test('a run of the fold ends after its rounds or when it is stopped, whatever is left, and no balance moves', async () => {
  const key = await harness.merchant('live');
  const never = new AbortController().signal;
  await foldBacklog(harness.database.pool, never);
  const left = async (): Promise<number> =>
    (await harness.rows('select 1 from balance_delta')).length;
  assert.equal(await left(), 0);
  for (let index = 0; index < 5; index++) await adjust(key, 10, `delta ${index}`);
  await foldBacklog(harness.database.pool, AbortSignal.abort(), { limit: 2 });
  assert.deepEqual([await left(), await available(key)], [5, 50], 'stopped');
  await foldBacklog(harness.database.pool, never, { limit: 1, rounds: 2 });
  assert.deepEqual([await left(), await available(key)], [3, 50], 'two rounds of one');
  await foldBacklog(harness.database.pool, never, { limit: 2 });
  assert.deepEqual([await left(), await available(key)], [0, 50], 'the second round is not full');
});

test('the same settlement sent fifty times at once is booked once', async () => {
  const key = await harness.merchant('live');
  await adjust(key, 1_000, 'fill');
  const answers = await Promise.all(Array.from({ length: 50 }, () => settle(key, 10, 'same')));
  assert.equal(answers.filter(({ repeated }) => repeated === false).length, 1);
  assert.equal(answers.filter(({ repeated }) => repeated === true).length, 49);
  assert.equal(await available(key), 990);
});

test('wrong movements are refused and leave nothing; only the platform’s finance may book', async () => {
  const key = await harness.merchant('live');
  const other = await harness.merchant('live');
  assert.equal((await settle(key, 0, 'r')).code, 'bad_request');
  assert.equal((await adjust(key, 0, 'r')).code, 'bad_request');
  assert.equal((await adjust(key, 1, ' ')).code, 'bad_request');
  assert.equal((await adjust(key, 1, 'r', '')).code, 'bad_request');
  assert.equal((await adjust({ ...key, shopId: other.shopId }, 1, 'r')).code, 'not_found');
  assert.equal((await settle(key, 1, 'r', operator('support'))).error, 'forbidden');
  assert.equal((await settle(key, 1, 'r', operator('admin', key.merchantId))).error, 'forbidden');
  assert.deepEqual(
    await harness.rows(
      'select 1 from posting where merchant_id = $1 union all select 1 from audit_entry where merchant_id = $1 and actor <> $$test$$',
      [key.merchantId],
    ),
    [],
  );
});

test("an operator reads any merchant's ledger, and its balance as it was at a moment; a cabinet user its own merchant's alone", async () => {
  const [key, other] = [await harness.merchant('live'), await harness.merchant('live')];
  await adjust(key, 700, 'a1');
  const then = harness.now().toString();
  harness.pass({ minutes: 1 });
  await adjust(key, -200, 'a2');
  const balanceAt =
    'query ($m: ID, $at: DateTime!) { balanceAt(merchantId: $m, at: $at) { balance available shops { balance } } }';
  const was = await harness.ask('merchants', finance, balanceAt, { m: key.merchantId, at: then });
  assert.deepEqual(was, { balance: 700, available: 700, shops: [{ balance: 700 }] });
  for (const at of [harness.now().toString(), '9999-12-31T23:59:59.999Z']) {
    const is = await harness.ask('merchants', finance, balanceAt, { m: key.merchantId, at });
    assert.equal(is.balance, await available(key));
  }
  const ledger = 'query ($m: ID) { ledger(merchantId: $m) { nodes { amount } } }';
  const amounts = { nodes: [{ amount: -200 }, { amount: 700 }] };
  assert.deepEqual(
    await harness.ask('merchants', operator('viewer'), ledger, { m: key.merchantId }),
    amounts,
  );
  assert.deepEqual(
    await harness.ask('merchants', operator('viewer', key.merchantId), ledger),
    amounts,
  );
  assert.equal(
    (
      await harness.ask('merchants', operator('viewer', other.merchantId), ledger, {
        m: key.merchantId,
      })
    ).error,
    'not_found',
  );
  assert.equal(
    (await harness.ask('merchants', other, ledger, { m: key.merchantId })).error,
    'not_found',
  );
});
