import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { noPolicies } from '../support/no-policies.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import {
  createPayoutBatch,
  type CreatedBatch,
} from '../../subgraphs/payouts/create-payout-batch.ts';
import type { CreatingDeps } from '../../subgraphs/payouts/create-payout.ts';
import type { PayoutInput } from '../../subgraphs/payouts/rules/create.ts';
import type { PayoutMethod } from '../../subgraphs/payouts/rules/payout.ts';
import { codeOf, granted } from '../support/granted.ts';
import { account, at, cardNumber, openHarness, sbp, start, type Harness } from './harness.ts';

let harness: Harness;
before(async () => void (harness = await openHarness()));
after(() => harness.migrated.close());

interface Sent {
  readonly method?: PayoutMethod;
  readonly key?: string;
  readonly parts?: CreatingDeps;
  readonly now?: () => Temporal.Instant;
}

const send = (
  caller: KeyPrincipal,
  items: readonly PayoutInput[],
  { method = 'payouts_sbp', key, parts = harness.parts, now = () => start }: Sent = {},
) =>
  createPayoutBatch(
    parts,
    { key: caller, policies: noPolicies, now },
    { method, items },
    key === undefined ? null : { key },
  );

const some = (count: number, of: Omit<PayoutInput, 'amount'> = sbp): readonly PayoutInput[] =>
  Array.from({ length: count }, () => ({ amount: 100n, ...of }));

const counts = ({ results }: CreatedBatch): Record<string, number> =>
  Object.fromEntries(
    Map.groupBy(results, ({ status, code }) => (code ? `${status} ${code}` : status))
      .entries()
      .map(([status, of]) => [status, of.length]),
  );

const payoutsOf = async ({ merchantId }: KeyPrincipal): Promise<number> =>
  (await harness.pool.query('select 1 from payout where merchant_id = $1', [merchantId])).rows
    .length;

test('each item stands alone: what is wrong with one is its own code and error, in the order sent', async () => {
  const key = await harness.funded(1_000n);
  const items: readonly PayoutInput[] = [
    { amount: 600n, ...sbp },
    { amount: 1n, ...sbp, phone: '89161234567' },
    { amount: 500n, ...sbp },
    { amount: 1n, ...sbp, phone: '+79000000001' },
    { amount: 1n, ...sbp, bankId: '000000000000' },
    { amount: 1n, bankId: sbp.bankId },
    { amount: 400n, ...sbp },
    { amount: 1n, ...sbp },
  ];
  const { results, replayed } = granted(await send(key, items));
  assert.equal(replayed, false);
  assert.deepEqual(
    results.map(({ index, status, code, payoutId, amount }) => [
      index,
      status,
      code,
      payoutId === null,
      amount,
    ]),
    [
      [0, 'created', null, false, 600n],
      [1, 'failed', 'bad_request', true, 1n],
      [2, 'failed', 'insufficient_balance', true, 500n],
      [3, 'failed', 'recipient_not_in_sbp', true, 1n],
      [4, 'failed', 'bank_unknown', true, 1n],
      [5, 'failed', 'bad_request', true, 1n],
      [6, 'created', null, false, 400n],
      [7, 'failed', 'insufficient_balance', true, 1n],
    ],
  );
  assert.match(String(results[1]?.error), /^phone: expected/);
  assert.deepEqual(await harness.books(key), {
    available: 0n,
    reserved: 1_000n,
    paid: 0n,
    fees: 0n,
  });
  await harness.send(at(1));
  assert.deepEqual(await harness.books(key), {
    available: 0n,
    reserved: 0n,
    paid: 1_000n,
    fees: 0n,
  });
});

test('sent again, what was made comes back as a duplicate with its id, and what failed is attempted', async () => {
  const key = await harness.funded(250n);
  const first = granted(await send(key, some(4), { key: 'b' }));
  assert.deepEqual(
    [counts(first), first.replayed],
    [{ created: 2, 'failed insufficient_balance': 2 }, false],
  );
  await harness.credit(key, 100n);
  const again = granted(await send(key, some(4), { key: 'b' }));
  assert.deepEqual(
    [counts(again), again.replayed],
    [{ duplicate: 2, created: 1, 'failed insufficient_balance': 1 }, true],
  );
  assert.deepEqual(
    again.results.slice(0, 2).map(({ payoutId }) => payoutId),
    first.results.slice(0, 2).map(({ payoutId }) => payoutId),
  );
  assert.equal(
    codeOf(await send(key, some(3), { key: 'b' })),
    'idempotent_conflict',
    'another body under the same key',
  );
  const single = await harness.create(key, { amount: 1n, ...sbp }, { key: 'b' });
  assert.equal(codeOf(single), 'idempotent_conflict');
  assert.match(isRefusal(single) ? single.message : '', /: payoutBatchCreate at /);
});

test('a batch of which nothing was made leaves its key free', async () => {
  const key = await harness.funded(0n);
  assert.deepEqual(counts(granted(await send(key, some(2), { key: 'free' }))), {
    'failed insufficient_balance': 2,
  });
  await harness.credit(key, 1_000n);
  assert.equal(
    granted(await harness.create(key, { amount: 1n, ...sbp }, { key: 'free' })).replayed,
    false,
  );
});

test('a batch that was cut off half way is completed by sending it again', async () => {
  const key = await harness.funded(100_000n);
  let pages = 0;
  const now = (): Temporal.Instant => {
    pages += 1;
    if (pages > 2) throw new Error('the process dies here');
    return start;
  };
  await assert.rejects(send(key, some(250), { key: 'cut', now }), /dies here/);
  assert.equal(await payoutsOf(key), 200);
  const completed = granted(await send(key, some(250), { key: 'cut' }));
  assert.deepEqual(
    [counts(completed), completed.replayed, await payoutsOf(key)],
    [{ duplicate: 200, created: 50 }, true, 250],
  );
});

test('ten equal batches at once make every item once', async () => {
  const key = await harness.funded(100_000n);
  const batches = await Promise.all(
    Array.from({ length: 10 }, () => send(key, some(150), { key: 'ten' })),
  );
  const made = batches.flatMap((batch) => (isRefusal(batch) ? [] : batch.results));
  assert.equal(made.filter(({ status }) => status === 'created').length, 150);
  assert.deepEqual([await payoutsOf(key), (await harness.books(key)).reserved], [150, 15_000n]);
});

test('a thousand items cost some statements for each hundred, not a thousand round trips', async () => {
  const key = await harness.funded(1_000_000n);
  let statements = 0;
  const { database } = harness.migrated;
  const counting = async () => {
    const client = await database.pool.connect();
    return new Proxy(client, {
      get: (target, name) => {
        if (name === 'query') statements += 1;
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  };
  const pool = new Proxy(database.pool, {
    get: (target, name) => {
      const value: unknown = name === 'connect' ? counting : Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const parts = { ...harness.parts, database: { ...database, pool } };
  const batch = granted(await send(key, some(1_000), { key: 'many', parts }));
  assert.deepEqual(counts(batch), { created: 1_000 });
  assert.ok(statements >= 10 && statements <= 80, `${statements} statements`);
  assert.deepEqual(await harness.books(key), {
    available: 900_000n,
    reserved: 100_000n,
    paid: 0n,
    fees: 0n,
  });
});

test('cards are given to the bank before the answer; accounts wait for a worker', async () => {
  const key = await harness.funded(10_000n);
  const cards = granted(
    await send(key, some(45, { cardPan: cardNumber }), { method: 'payouts_card' }),
  );
  assert.deepEqual([counts(cards), (await harness.books(key)).paid], [{ created: 45 }, 4_500n]);
  const accounts = granted(
    await send(key, some(2, { accountNumber: account.accountNumber, bik: account.bik }), {
      method: 'payouts_account',
    }),
  );
  assert.deepEqual([counts(accounts), (await harness.books(key)).reserved], [{ created: 2 }, 200n]);
});

test('as a whole it is refused without items, with too many, and without the scope of its method', async () => {
  const key = await harness.funded(1n);
  assert.equal(codeOf(await send(key, [])), 'bad_request');
  assert.equal(codeOf(await send(key, some(1_001))), 'bad_request');
  assert.equal(
    codeOf(
      await send({ ...key, scopes: ['api:payouts:sbp'] }, some(1), { method: 'payouts_card' }),
    ),
    'scope_required',
  );
});
