/**
 * A balance stays within 2^53-1 under any concurrent postings; and what happens to what
 * would pass it.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Bank, BankAnswer } from '../../subgraphs/acquirers/bank.ts';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { isBeyondBound, readBalances } from '../../subgraphs/ledger/balance.ts';
import { readBalancesAt } from '../../subgraphs/ledger/closing.ts';
import { checkBooks } from '../support/check-books.ts';
import { foldBalances } from '../../subgraphs/ledger/fold.ts';
import { Policies } from '../../subgraphs/platform/policies/policies.ts';
import { noPolicies } from '../support/no-policies.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { createShop } from '../../subgraphs/merchants/shops/change-shop.ts';
import {
  recordAdjustment,
  recordSettlement,
} from '../../subgraphs/merchants/ledger/record-movement.ts';
import { applyBankAnswer } from '../../subgraphs/payments/bank-answers/apply-bank-answer.ts';
import { cancelPayment } from '../../subgraphs/payments/cancel-payment.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import type { Payment } from '../../subgraphs/payments/entities.ts';
import { openSession } from '../../subgraphs/payments/checkout/open-session.ts';
import { refundPayment } from '../../subgraphs/payments/refunds/refund-payment.ts';
import { codeOf, granted } from '../support/granted.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { openHistory, start, type History } from './history.ts';

const bound = 9_007_199_254_740_991n;

let migrated: MigratedDatabase;
let history: History;
before(async () => {
  migrated = await startMigratedDatabase();
  history = openHistory(migrated);
});
after(() => migrated.close());

const sumOf = async ({ merchantId, mode }: KeyPrincipal) => {
  const shops = await readBalances(migrated.database.pool, merchantId, mode, 'RUB');
  return {
    balance: shops.reduce((sum, { balance }) => sum + balance, 0n),
    available: shops.reduce((sum, { available }) => sum + available, 0n),
    shops: shops.map(({ balance }) => balance),
  };
};

const booksAreRight = async ({ merchantId }: KeyPrincipal): Promise<void> => {
  await history.relay();
  assert.deepEqual(await checkBooks({ pool: migrated.database.pool }, merchantId), []);
};

const secondShop = async (key: KeyPrincipal): Promise<KeyPrincipal> => {
  const acting = {
    principal: { kind: 'service', name: 'test' },
    requestId: 'test',
    now: () => start,
  } as const;
  const parts = { database: migrated.database, vaultKey: Buffer.alloc(32) };
  const shop = granted(
    await createShop(parts, acting, {
      merchantId: key.merchantId,
      name: 'Second',
      terminalName: 'Terminal',
    }),
  );
  return { ...key, shopId: shop.id };
};

const times = <Result>(
  count: number,
  work: (index: number) => Promise<Result>,
): Promise<Result[]> => Promise.all(Array.from({ length: count }, (_, index) => work(index)));

describe('test mode', () => {
  test('fifty payments at once, where ten fit: ten succeed, the others are declined at the simulated bank, and the sum is the bound', async () => {
    const key = await migrated.merchant();
    assert.equal((await history.pay(key, bound - 1_000n)).status, 'succeeded');
    const paid = await times(50, () => history.pay(key, 100n));
    const failed = paid.filter(({ status }) => status === 'failed');
    assert.deepEqual(
      [paid.filter(({ status }) => status === 'succeeded').length, failed.length],
      [10, 40],
    );
    for (const { failureCode, metadata } of failed) {
      assert.deepEqual(
        [failureCode, metadata['bank_failure_code']],
        ['limit_exceeded', 'simulator:limit_exceeded'],
      );
    }
    assert.deepEqual(await sumOf(key), { balance: bound, available: bound, shops: [bound] });
    await booksAreRight(key);
    while ((await foldBalances(migrated.database.pool)) > 0);
    assert.deepEqual(await sumOf(key), { balance: bound, available: bound, shops: [bound] });
  });

  test('fifty of the largest at once: one succeeds, and the fold continues for everybody', async () => {
    const [key, other] = [await migrated.merchant(), await migrated.merchant()];
    const paid = await times(50, () => history.pay(key, bound));
    assert.equal(paid.filter(({ status }) => status === 'succeeded').length, 1);
    await history.pay(other, 700n);
    while ((await foldBalances(migrated.database.pool)) > 0);
    const { rows } = await migrated.database.pool.query(
      'select amount::text from balance where merchant_id = any ($1) order by amount',
      [[key.merchantId, other.merchantId]],
    );
    assert.deepEqual(rows, [{ amount: '700' }, { amount: bound.toString() }]);
    await booksAreRight(key);
  });

  test('small and large ones at once in two shops never pass the bound together, and what was declined stays declined', async () => {
    const key = await migrated.merchant();
    const second = await secondShop(key);
    const amounts = Array.from({ length: 60 }, (_, index) =>
      index % 3 === 0 ? bound / 7n : BigInt(index) * 1_000_003n + 1n,
    );
    const paid = await Promise.all(
      amounts.map((amount, index) => history.pay(index % 2 === 0 ? key : second, amount)),
    );
    const succeeded = paid
      .filter(({ status }) => status === 'succeeded')
      .reduce((sum, { amount }) => sum + amount, 0n);
    const { balance } = await sumOf(key);
    assert.equal(balance, succeeded);
    assert.ok(balance <= bound && paid.some(({ status }) => status === 'failed'), String(balance));
    await booksAreRight(key);
    const [declined] = paid.filter(({ status }) => status === 'failed');
    const { rows } = await migrated.database.pool.query(
      'select outcome from simulator_operation where operation_id = $1',
      [declined?.id],
    );
    assert.deepEqual(rows, [{ outcome: 'failed' }], 'the bank’s own record says the same');
  });
});

const traits = {
  cardBrand: null,
  cardMask: null,
  cardHolder: null,
  phoneMask: null,
  payerBank: null,
};
const approved: BankAnswer = { kind: 'approved', reference: 'r', rrn: '1', traits };

/** A live bank that answers as the test sets it, and counts its orders. */
const liveBank = (orders: string[]) => {
  const { database } = migrated;
  const real = openBanks(openSimulator(database), database.pool);
  const bank: Bank = {
    ...real.simulator,
    connector: 'acquirer',
    openSession: async ({ operationId }) => {
      orders.push(operationId);
      return { kind: 'unknown' };
    },
  };
  const bounded = openBanks(openSimulator(database), database.pool, [bank]).bankOf({
    mode: 'live',
    connector: 'acquirer',
  });
  assert.ok(!isRefusal(bounded));
  return { ...real, candidates: async () => [bounded] as const, bankOf: () => bounded };
};

const processing = async (
  key: KeyPrincipal,
  amount: bigint,
  banks: ReturnType<typeof liveBank>,
): Promise<Payment> => {
  const { database } = migrated;
  const { payment } = granted(
    await recordPayment(database, noPolicies, key, { input: { amount, method: 'sbp' } }, start),
  );
  const paymentKey = { merchantId: key.merchantId, paymentId: payment.id };
  return granted(
    await openSession(database, banks, noPolicies, {
      key: paymentKey,
      card: null,
      pageUrl: 'https://pay.example/p',
      now: start,
    }),
  );
};

const alertsOf = async ({ merchantId }: KeyPrincipal): Promise<readonly string[]> => {
  const { rows } = await migrated.database.pool.query<{ kind: string }>(
    'select kind from alert where merchant_id = $1 order by kind',
    [merchantId],
  );
  return rows.map(({ kind }) => kind);
};

describe('live mode', () => {
  test('no bank gets an order that the balance has no room for, and the payment says why', async () => {
    const key = await migrated.merchant('live');
    await history.adjust(key, bound - 5n, true);
    while ((await foldBalances(migrated.database.pool)) > 0);
    const orders: string[] = [];
    const refusedOne = await processing(key, 6n, liveBank(orders));
    assert.deepEqual(
      [refusedOne.status, refusedOne.failureCode, orders],
      ['failed', 'limit_exceeded', []],
    );
    const ordered = await processing(key, 5n, liveBank(orders));
    assert.deepEqual([ordered.status, orders], ['processing', [ordered.id]]);
  });

  test('money that a bank took all the same succeeds and stands in suspense with an alert; nothing is lost and the books are right', async () => {
    const { database } = migrated;
    const key = await migrated.merchant('live');
    const [fits, ...others] = await times(10, () => processing(key, bound, liveBank([])));
    assert.ok(fits);
    const received = [fits, ...others, ...others];
    const paid = await Promise.all(
      received.map(async ({ id }) =>
        granted(
          await applyBankAnswer(
            database,
            { merchantId: key.merchantId, paymentId: id },
            'acquirer',
            approved,
            start,
          ),
        ),
      ),
    );
    assert.ok(paid.every(({ status }) => status === 'succeeded'));
    const net = bound - (paid[0]?.fee ?? 0n);
    assert.notEqual(net, bound);
    assert.deepEqual(await sumOf(key), { balance: net, available: net, shops: [net] });
    const { rows } = await database.pool.query<{ sum: string }>(
      `select sum(amount)::text as sum from posting where merchant_id = $1 and type = 'adjustment' and from_account = 'merchant' and to_account = 'suspense'`,
      [key.merchantId],
    );
    assert.equal(
      rows[0]?.sum,
      (9n * net).toString(),
      'a sum beyond 2^63 is in the ledger, and in no balance',
    );
    assert.equal((await alertsOf(key)).filter((kind) => kind === 'balance_at_bound').length, 9);
    await booksAreRight(key);
    assert.deepEqual(
      (await readBalancesAt(database.pool, key.merchantId, 'live', 'RUB', start)).map(
        ({ balance }) => balance,
      ),
      [net],
    );
  });

  test('a late success that the balance has no room for is booked into suspense once, however often it is told', async () => {
    const { database } = migrated;
    const key = await migrated.merchant('live');
    await history.adjust(key, bound, true);
    const { payment } = granted(
      await recordPayment(
        database,
        noPolicies,
        key,
        { input: { amount: 5_000n, method: 'sbp' } },
        start,
      ),
    );
    granted(await cancelPayment(database, key, payment.id, start));
    const paymentKey = { merchantId: key.merchantId, paymentId: payment.id };
    await times(10, () => applyBankAnswer(database, paymentKey, 'acquirer', approved, start));
    assert.deepEqual(await sumOf(key), { balance: bound, available: bound, shops: [bound] });
    const { rows } = await database.pool.query(
      'select type, from_account, to_account, amount::int as amount from posting where merchant_id = $1 and payment_id = $2 order by type',
      [key.merchantId, payment.id],
    );
    assert.deepEqual(rows, [
      { type: 'adjustment', from_account: 'merchant', to_account: 'suspense', amount: 5_000 },
      { type: 'payment', from_account: 'acquirer_clearing', to_account: 'merchant', amount: 5_000 },
    ]);
    assert.deepEqual(
      (await alertsOf(key)).filter((kind) => kind === 'balance_at_bound'),
      ['balance_at_bound'],
    );
    await booksAreRight(key);
  });
});

describe('what is refused at the lower bound', () => {
  const acting = {
    principal: { kind: 'service', name: 'test' },
    requestId: 'test',
    now: () => start,
  } as const;

  test('adjustments, settlements and refunds stop at the bounds, twenty at once, and leave nothing behind', async () => {
    const { database } = migrated;
    const key = await migrated.merchant();
    const { merchantId, shopId, mode } = key;
    const bus = { publish: async () => {}, subscribe: () => () => {} };
    const policies = new Policies({ pool: database.pool, bus, fingerprintKey: Buffer.alloc(32) });
    const parts = { database, policies, fingerprintKey: Buffer.alloc(32) };
    const move = { merchantId, shopId, mode, currency: 'RUB' };
    const adjust = (amount: bigint, reference: string) =>
      recordAdjustment(parts, acting, { ...move, amount, reference, reason: 'Correction' });
    const paid = await history.pay(key, 1_000n);
    granted(await recordSettlement(parts, acting, { ...move, amount: 1_000n, reference: 's' }));
    granted(await adjust(-bound + 100n, 'down'));
    const downs = await times(20, (index) => adjust(-10n, `down ${index}`));
    assert.deepEqual(
      [
        downs.filter((one) => !isRefusal(one)).length,
        new Set(downs.filter(isRefusal).map(({ code }) => code)),
      ],
      [10, new Set(['insufficient_balance'])],
    );
    const banks = openBanks(openSimulator(database), database.pool);
    const refunded = await refundPayment(
      database,
      banks,
      key,
      { paymentId: paid.id, amount: 1n, reason: null, idempotency: { key: 'r' } },
      start,
    );
    assert.equal(codeOf(refunded), 'insufficient_balance');
    assert.equal((await sumOf(key)).available, -bound);
    granted(await adjust(bound, 'back'));
    granted(
      await refundPayment(
        database,
        banks,
        key,
        { paymentId: paid.id, amount: 1n, reason: null, idempotency: { key: 'r' } },
        start,
      ),
    );
    granted(await adjust(bound, 'up'));
    assert.equal(codeOf(await adjust(2n, 'over')), 'bad_request');
    await booksAreRight(key);
  });

  test('PostgreSQL itself refuses a booking past the bound, with a code that the program knows', async () => {
    const key = await migrated.merchant();
    await history.adjust(key, bound, true);
    await assert.rejects(history.adjust(key, 1n, true), isBeyondBound);
    await assert.rejects(
      history.adjust(await secondShop(key), 1n, true),
      isBeyondBound,
      'over all shops',
    );
    await history.adjust(key, 1n, false);
    await history.adjust(key, 1n, true);
  });
});
