import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { readBalances } from '../../subgraphs/ledger/balance.ts';
import { foldBalances } from '../../subgraphs/ledger/fold.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import { noPolicies } from '../support/no-policies.ts';
import { applyBankAnswer } from '../../subgraphs/payments/bank-answers/apply-bank-answer.ts';
import { askBank } from '../../subgraphs/payments/bank-answers/ask-bank.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import { PaymentEntity, type Payment } from '../../subgraphs/payments/entities.ts';
import { expirePayments } from '../../subgraphs/payments/expire-payments.ts';
import { openSession } from '../../subgraphs/payments/checkout/open-session.ts';
import type { PaymentInput } from '../../subgraphs/payments/rules/create.ts';
import { propertyNames } from '../../subgraphs/platform/database/statement.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { answered, granted } from '../support/granted.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const start = Temporal.Instant.from('2026-11-21T10:00:00.123Z');
const at = (seconds: number): Temporal.Instant => start.add({ milliseconds: seconds * 1_000 });

const create = async (key: KeyPrincipal, input: PaymentInput, idempotencyKey?: string) => {
  const request = { input, idempotency: idempotencyKey ? { key: idempotencyKey } : null };
  return granted(
    await answered(() => recordPayment(migrated.database, noPolicies, key, request, start)),
  );
};

const banks = () => openBanks(openSimulator(migrated.database), migrated.database.pool);
const keyOf = (payment: Payment) => ({ merchantId: payment.merchantId, paymentId: payment.id });
const pay = async (payment: Payment, seconds = 1) =>
  granted(
    await openSession(migrated.database, banks(), noPolicies, {
      key: keyOf(payment),
      card: null,
      pageUrl: 'https://pay.example/p',
      now: at(seconds),
    }),
  );

const stored = async (payment: Payment): Promise<object> => {
  const entity = await migrated.database
    .fork()
    .findOneOrFail(PaymentEntity, { merchantId: payment.merchantId, id: payment.id });
  return Object.fromEntries(
    propertyNames(PaymentEntity).map((name) => [name, entity[name as keyof typeof entity] ?? null]),
  );
};

test('the statement that creates a payment writes and returns what the entity reads', async () => {
  const key = await migrated.merchant();
  const { payment } = await create(key, {
    amount: 9_007_199_254_740_991n,
    method: 'sbp',
    orderId: 'order 1',
    customerId: 'c1',
    returnUrl: 'https://shop.example/back?a=1#end',
    description: 'Кофе',
    webhookUrl: 'https://shop.example/hook',
    ttlMinutes: 5,
    metadata: { zebra: '1', ant: '2' },
  });
  assert.deepEqual(await stored(payment), { ...payment });
  assert.equal(payment.terminalName, 'Terminal');
  assert.match(payment.publicId, /^P-\d+$/);
  assert.deepEqual(
    Object.keys(payment.metadata).slice(0, 2),
    ['zebra', 'ant'],
    'the merchant’s pairs keep their order',
  );
});

test('the shop’s names are those of the moment of creation', async () => {
  const key = await migrated.merchant();
  const { payment } = await create(key, { amount: 100n }, 'k');
  await migrated.database.pool.query(
    `update shop set name = 'Another', terminal_name = 'Another' where merchant_id = $1`,
    [key.merchantId],
  );
  const names = ({ shopName, terminalName }: Payment): string[] => [shopName, terminalName];
  assert.deepEqual(
    names((await create(key, { amount: 100n }, 'k')).payment),
    ['Shop', 'Terminal'],
    'a replay shows what was frozen',
  );
  assert.deepEqual(names((await create(key, { amount: 100n })).payment), ['Another', 'Another']);
  assert.deepEqual(names((await stored(payment)) as Payment), ['Shop', 'Terminal']);
});

test('the statement that stores a bank’s answer writes and returns what the entity reads', async () => {
  const key = await migrated.merchant();
  const { payment } = await create(key, { amount: 10_000n, method: 'sbp' });
  await pay(payment);
  const succeeded = granted(await askBank(migrated.database, banks(), keyOf(payment), at(60)));
  assert.equal(succeeded.status, 'succeeded');
  assert.equal(succeeded.fee, 0n, 'nothing is withheld from a test payment');
  assert.deepEqual(await stored(payment), { ...succeeded });
});

test('fifty equal requests at once make one payment and forty-nine replays of it', async () => {
  const key = await migrated.merchant();
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => create(key, { amount: 500n }, 'same')),
  );
  assert.equal(new Set(answers.map(({ payment }) => payment.id)).size, 1);
  assert.equal(answers.filter(({ replayed }) => replayed).length, 49);
  const { rows } = await migrated.database.pool.query(
    'select 1 from event where merchant_id = $1',
    [key.merchantId],
  );
  assert.equal(rows.length, 1, 'one event');
});

test('the same key with another request is a conflict, and a refused request leaves the key free', async () => {
  const key = await migrated.merchant();
  const refusedFirst = await recordPayment(
    migrated.database,
    noPolicies,
    key,
    { input: { amount: 0n }, idempotency: { key: 'k' } },
    start,
  );
  assert.equal(isRefusal(refusedFirst) && refusedFirst.code, 'bad_request');
  await create(key, { amount: 1n }, 'k');
  const other = await recordPayment(
    migrated.database,
    noPolicies,
    key,
    { input: { amount: 2n }, idempotency: { key: 'k' } },
    start,
  );
  assert.equal(isRefusal(other) && other.code, 'idempotent_conflict');
});

test('a bank’s answer that arrives twenty times at once is booked once, and the books balance', async () => {
  const key = await migrated.merchant();
  const { payment } = await create(key, { amount: 10_000n, method: 'sbp' });
  await pay(payment);
  const traits = {
    cardBrand: null,
    cardMask: null,
    cardHolder: null,
    phoneMask: null,
    payerBank: null,
  };
  const answer = { kind: 'approved' as const, reference: 'r', rrn: '1', traits };
  await Promise.all(
    Array.from({ length: 20 }, () =>
      applyBankAnswer(migrated.database, keyOf(payment), 'simulator', answer, at(5)),
    ),
  );
  const { rows } = await migrated.database.pool.query<{ type: string; amount: string }>(
    'select type, amount from posting where merchant_id = $1',
    [key.merchantId],
  );
  assert.deepEqual(rows, [{ type: 'payment', amount: '10000' }]);
  const before = await readBalances(migrated.database.pool, key.merchantId, 'test', 'RUB');
  assert.deepEqual(
    before.map(({ balance, available }) => [balance, available]),
    [[10_000n, 10_000n]],
  );
  while ((await foldBalances(migrated.database.pool)) > 0);
  assert.deepEqual(
    await readBalances(migrated.database.pool, key.merchantId, 'test', 'RUB'),
    before,
    'a fold changes no balance',
  );
});

test('links and sessions expire at their moment and not before', async () => {
  const key = await migrated.merchant();
  const { payment: link } = await create(key, { amount: 100n, ttlMinutes: 1 });
  const { payment: session } = await create(key, { amount: 106n, method: 'sbp', ttlMinutes: 60 });
  await pay(session);
  const statusAt = async (payment: Payment, seconds: number): Promise<unknown> => {
    await expirePayments(migrated.database, banks(), () => at(seconds));
    return ((await stored(payment)) as Payment).status;
  };
  assert.equal(await statusAt(link, 59.999), 'pending');
  assert.equal(await statusAt(link, 60), 'expired');
  assert.equal(await statusAt(session, 20 * 60), 'processing');
  assert.equal(await statusAt(session, 20 * 60 + 1), 'expired');
});

test('a failure code overwrites what the merchant had put under its name; what the service did not set stays the merchant’s', async () => {
  const key = await migrated.merchant();
  const metadata = {
    failure_code: 'mine',
    bank_failure_code: 'mine',
    bank_ref: 'mine',
    late_success: 'mine',
    order: '1',
  };
  const { payment } = await create(key, { amount: 10_001n, method: 'sbp', metadata });
  await pay(payment);
  const failed = granted(await askBank(migrated.database, banks(), keyOf(payment), at(60)));
  assert.deepEqual(failed.metadata, {
    ...metadata,
    mode: 'test',
    simulator_outcome: 'failed',
    simulator_failure_code: 'do_not_honor',
    failure_code: 'do_not_honor',
    bank_failure_code: 'simulator:do_not_honor',
  });
});

test('a live payment shows the bank’s id under bank_ref', async () => {
  const key = await migrated.merchant('live');
  const { payment } = await create(key, {
    amount: 10_000n,
    method: 'sbp',
    metadata: { bank_ref: 'mine' },
  });
  const bank = banks().simulator;
  const live = {
    ...banks(),
    candidates: () => Promise.resolve([bank] as const),
    bankOf: () => bank,
  };
  const opened = granted(
    await openSession(migrated.database, live, noPolicies, {
      key: keyOf(payment),
      card: null,
      pageUrl: 'https://pay.example/p',
      now: at(1),
    }),
  );
  assert.deepEqual(opened.metadata, { bank_ref: `sim_${payment.id}`, mode: 'live' });
});

test('a webhook’s body is frozen with the move that caused it, and a live fee is withheld', async () => {
  const key = await migrated.merchant('live');
  const { payment } = await create(key, { amount: 10_050n, method: 'sbp' });
  await migrated.database.pool.query(
    "update payment set status = 'processing', processing_until = now() where id = $1",
    [payment.id],
  );
  const traits = {
    cardBrand: null,
    cardMask: null,
    cardHolder: null,
    phoneMask: null,
    payerBank: null,
  };
  const paid = granted(
    await applyBankAnswer(
      migrated.database,
      keyOf(payment),
      'x',
      { kind: 'approved', reference: 'r', rrn: null, traits },
      at(9),
    ),
  );
  assert.equal(paid.fee, 70n, '10,050 at 0.70 % is 70.35, rounded half up');
  const { rows } = await migrated.database.pool.query<{ webhook_body: string }>(
    "select webhook_body from event where merchant_id = $1 and webhook_event = 'payment.succeeded'",
    [key.merchantId],
  );
  const body = JSON.parse(rows[0]?.webhook_body ?? '{}');
  assert.deepEqual(
    [
      body.event,
      body.data.status,
      body.data.amount,
      body.data.fee,
      body.data.net,
      body.data.fee_rate_bps,
    ],
    ['payment.succeeded', 'succeeded', 10_050, 70, 9_980, 70],
  );
  const { rows: sums } = await migrated.database.pool.query(
    'select type, from_account, to_account, amount from posting where merchant_id = $1 order by type desc',
    [key.merchantId],
  );
  assert.deepEqual(sums, [
    { type: 'payment', from_account: 'acquirer_clearing', to_account: 'merchant', amount: '10050' },
    { type: 'fee', from_account: 'merchant', to_account: 'platform_fees', amount: '70' },
  ]);
});
