import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openBanks, type Banks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { readBalances } from '../../subgraphs/ledger/balance.ts';
import { foldBalances } from '../../subgraphs/ledger/fold.ts';
import { noPolicies } from '../support/no-policies.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import {
  applyRefundAnswer,
  refundAsks,
  sendRefund,
} from '../../subgraphs/payments/refunds/send-refund.ts';
import { askBank } from '../../subgraphs/payments/bank-answers/ask-bank.ts';
import { checkoutView } from '../../subgraphs/payments/checkout/resolvers.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import { type Payment, RefundEntity, type Refund } from '../../subgraphs/payments/entities.ts';
import { balancesAfter } from '../../subgraphs/merchants/ledger/resolvers.ts';
import { pageOfLedger } from '../../subgraphs/merchants/ledger/read-ledger.ts';
import { openSession } from '../../subgraphs/payments/checkout/open-session.ts';
import { refundPayment } from '../../subgraphs/payments/refunds/refund-payment.ts';
import { findPayment, findRefunds } from '../../subgraphs/payments/store-payment.ts';
import { propertyNames } from '../../subgraphs/platform/database/statement.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { booksOf } from './books-of.ts';
import { answered, codeOf, granted } from '../support/granted.ts';
import { openGate, repeatWhileAsking } from '../support/slow-answer.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const start = Temporal.Instant.from('2026-11-21T10:00:00.123Z');
const at = (seconds: number): Temporal.Instant => start.add({ milliseconds: seconds * 1_000 });
const banks = (): Banks => openBanks(openSimulator(migrated.database), migrated.database.pool);

const paid = async (key: KeyPrincipal, amount: bigint, webhookUrl?: string): Promise<Payment> => {
  const { database } = migrated;
  const { payment } = granted(
    await recordPayment(
      database,
      noPolicies,
      key,
      { input: { amount, method: 'sbp', webhookUrl } },
      start,
    ),
  );
  const paymentKey = { merchantId: key.merchantId, paymentId: payment.id };
  granted(
    await openSession(database, banks(), noPolicies, {
      key: paymentKey,
      card: null,
      pageUrl: 'https://pay.example/p',
      now: start,
    }),
  );
  const succeeded = granted(await askBank(database, banks(), paymentKey, at(60)));
  assert.equal(succeeded.status, 'succeeded');
  return succeeded;
};
interface Asked {
  readonly idempotencyKey?: string;
  readonly bank?: Banks;
  readonly now?: Temporal.Instant;
}
const refund = (
  key: KeyPrincipal,
  payment: Payment,
  amount: bigint | null,
  { idempotencyKey, bank = banks(), now = at(100) }: Asked = {},
) =>
  refundPayment(
    migrated.database,
    bank,
    key,
    {
      paymentId: payment.id,
      amount,
      reason: 'One ticket',
      idempotency: idempotencyKey ? { key: idempotencyKey } : null,
    },
    now,
  );
const stored = async ({ merchantId, id }: Payment): Promise<Payment> =>
  (await findPayment(migrated.database.pool, { merchantId, paymentId: id }, start))?.payment ??
  assert.fail('gone');
const refundsOf = (payment: Payment): Promise<Refund[]> =>
  findRefunds(migrated.database.pool, [payment]);

const books = (key: KeyPrincipal) => booksOf(migrated.database, key);

test('the statement that stores a refund writes what the entity reads, while pending and at the end', async () => {
  const key = await migrated.merchant();
  const payment = await paid(key, 10_000n);
  for (const amount of [105n, 201n, 300n]) {
    const { refund: made } = granted(await refund(key, payment, amount));
    const entity = await migrated.database
      .fork()
      .findOneOrFail(RefundEntity, { merchantId: made.merchantId, id: made.id });
    const read = Object.fromEntries(
      propertyNames(RefundEntity).map((name) => [
        name,
        entity[name as keyof typeof entity] ?? null,
      ]),
    );
    assert.deepEqual(read, { ...made });
  }
});

test('a refund whose call began before the buyer paid stands after the payment in the ledger', async () => {
  const key = await migrated.merchant();
  const payment = await paid(key, 10_000n);
  granted(await refund(key, payment, 4_000n, { now: at(59) }));
  const page = granted(await pageOfLedger(migrated.database.pool, key, { first: 9, columns: {} }));
  const moved = page.nodes.toReversed().map(({ type }) => type);
  assert.deepEqual(moved, ['payment', 'refund']);
  const after = await balancesAfter(migrated.database.pool, page.nodes.toReversed());
  assert.deepEqual(
    after.map((balance) => balance?.ofAll),
    [10_000n, 6_000n],
  );
});

test('the hosted page shows the buyer what was given back and why, and nothing of a refund that failed', async () => {
  const key = await migrated.merchant();
  const payment = await paid(key, 10_000n);
  for (const amount of [4_000n, 105n, 201n]) granted(await refund(key, payment, amount));
  // All are made at the same moment here, so that their order is that of their ids.
  const shown = async (of: Payment) =>
    (await checkoutView(of, await refundsOf(of), banks())).refunds
      .map(({ amount, reason, status }) => ({ amount, reason, status }))
      .toSorted((a, b) => Number(b.amount - a.amount));
  assert.deepEqual(await shown(await stored(payment)), [
    { amount: 4_000n, reason: 'One ticket', status: 'succeeded' },
    { amount: 105n, reason: 'One ticket', status: 'pending' },
  ]);
  assert.deepEqual(
    await shown({ ...payment, verification: true }),
    [],
    'who only proved a method was given nothing back',
  );
});

test('fifty partial refunds at once never exceed the amount, and the books balance', async () => {
  const key = await migrated.merchant();
  const payment = await paid(key, 10_000n);
  // 400 succeeds, 405 stays pending: 25 are the most that fit, whichever come first.
  const results = await Promise.all(
    Array.from({ length: 50 }, (_, index) => refund(key, payment, index % 2 === 0 ? 400n : 405n)),
  );
  const refusals = results.filter((result) => isRefusal(result));
  assert.deepEqual(new Set(refusals.map(codeOf)), new Set(['amount_exceeds_remainder']));
  const refunds = await refundsOf(payment);
  const sum = (status: string): bigint =>
    refunds.reduce(
      (total, { status: its, amount }) => (its === status ? total + amount : total),
      0n,
    );
  assert.equal(refunds.length, 50 - refusals.length);
  assert.ok(
    sum('succeeded') + sum('pending') <= 10_000n &&
      sum('succeeded') + sum('pending') > 10_000n - 405n,
  );
  assert.equal((await stored(payment)).amountRefunded, sum('succeeded'));
  assert.deepEqual(await books(key), {
    merchant: 10_000n - sum('succeeded') - sum('pending'),
    reserved: sum('pending'),
    clearing: sum('succeeded') - 10_000n,
  });
  while ((await foldBalances(migrated.database.pool)) > 0);
  await books(key);
});

test('fifty refunds of the whole remainder at once: one succeeds', async () => {
  const key = await migrated.merchant();
  const payment = await paid(key, 5_000n);
  const codes = (
    await Promise.all(Array.from({ length: 50 }, () => refund(key, payment, null)))
  ).map(codeOf);
  assert.equal(codes.filter((code) => code === 'not refused').length, 1);
  assert.ok(
    codes.every((code) =>
      ['not refused', 'already_refunded', 'amount_exceeds_remainder'].includes(code),
    ),
  );
  assert.equal((await stored(payment)).status, 'refunded');
  assert.deepEqual(await books(key), { merchant: 0n, reserved: 0n, clearing: 0n });
});

test('fifty equal refunds under one key at once are one refund and forty-nine replays of it', async () => {
  const key = await migrated.merchant();
  const payment = await paid(key, 5_000n);
  const results = (
    await Promise.all(
      Array.from({ length: 50 }, () =>
        answered(() => refund(key, payment, 5_000n, { idempotencyKey: 'same' })),
      ),
    )
  ).map(granted);
  assert.equal(new Set(results.map(({ refund: made }) => made.id)).size, 1);
  assert.equal(results.filter(({ replayed }) => replayed).length, 49);
  assert.equal((await refundsOf(payment)).length, 1);
  const again = granted(await refund(key, payment, 5_000n, { idempotencyKey: 'same' }));
  assert.deepEqual(
    [again.replayed, again.refund.status],
    [true, 'succeeded'],
    'a replay shows the refund as it is now',
  );
  assert.equal(
    codeOf(await refund(key, payment, 4_000n, { idempotencyKey: 'same' })),
    'idempotent_conflict',
  );
});

test('refunds under one key that arrive while the bank is asked have the answer of the first', async () => {
  const key = await migrated.merchant();
  const payment = await paid(key, 5_000n);
  const gate = openGate();
  const slow: Banks = {
    ...banks(),
    bankOf: () => ({
      ...banks().simulator,
      refund: async (order) => {
        await gate.pass();
        return banks().simulator.refund(order);
      },
    }),
  };
  const answers = await repeatWhileAsking(migrated.database.pool, gate, () =>
    refund(key, payment, 5_000n, { idempotencyKey: 'slow', bank: slow }),
  );
  assert.deepEqual(
    answers.map(granted).map(({ refund: made, replayed }) => [made.status, replayed]),
    answers.map((_, index) => ['succeeded', index > 0]),
  );
  assert.deepEqual(await books(key), { merchant: 0n, reserved: 0n, clearing: 0n });
});

test('a refused refund leaves its key free', async () => {
  const key = await migrated.merchant();
  const payment = await paid(key, 5_000n);
  assert.equal(
    codeOf(await refund(key, payment, 5_001n, { idempotencyKey: 'k' })),
    'amount_exceeds_remainder',
  );
  assert.equal(
    granted(await refund(key, payment, 5_000n, { idempotencyKey: 'k' })).replayed,
    false,
  );
});

test('an answer that arrives twenty times at once is booked once', async () => {
  const key = await migrated.merchant();
  const payment = await paid(key, 5_000n);
  const { refund: pending } = granted(await refund(key, payment, 1_005n));
  await Promise.all(
    Array.from({ length: 20 }, () =>
      applyRefundAnswer(migrated.database, pending, { kind: 'approved', reference: 'r' }, at(200)),
    ),
  );
  assert.equal((await stored(payment)).amountRefunded, 1_005n);
  assert.deepEqual(await books(key), { merchant: 3_995n, reserved: 0n, clearing: -3_995n });
  const late = await applyRefundAnswer(
    migrated.database,
    pending,
    { kind: 'declined', failureCode: 'refund_rejected', bankCode: 'x' },
    at(201),
  );
  assert.equal(late.status, 'succeeded', 'a final refund stays what it is');
});

test('a crash between our row and the bank’s call: the order is repeated under the refund’s id, and is one refund at the bank', async () => {
  const key = await migrated.merchant();
  const payment = await paid(key, 5_000n);
  const broken: Banks = {
    ...banks(),
    bankOf: () => ({
      ...banks().simulator,
      refund: () => Promise.reject(new Error('the process died here')),
    }),
  };
  await assert.rejects(
    refund(key, payment, 2_000n, { idempotencyKey: 'crashed', bank: broken }),
    /died here/,
  );
  const [left] = await refundsOf(payment);
  assert.equal(left?.status, 'pending');
  assert.deepEqual(await books(key), { merchant: 3_000n, reserved: 2_000n, clearing: -5_000n });
  const replay = granted(await refund(key, payment, 2_000n, { idempotencyKey: 'crashed' }));
  assert.deepEqual(
    [replay.replayed, replay.refund.id],
    [true, left?.id],
    'the merchant repeats the call: no second refund',
  );

  assert.ok(
    !(await refundAsks.dueByTurns(migrated.database.pool, null, at(129), 500)).some(
      ({ refundId }) => refundId === left?.id,
    ),
    'not before any call is over',
  );
  const due = (await refundAsks.dueByTurns(migrated.database.pool, null, at(130), 500)).filter(
    ({ refundId }) => refundId === left?.id,
  );
  assert.equal(due.length, 1);
  const sent = await Promise.all(
    due.concat(due).map((refundKey) => sendRefund(migrated.database, banks(), refundKey, at(131))),
  );
  assert.deepEqual(
    sent.map((result) => result?.status),
    ['succeeded', 'succeeded'],
  );
  const { rows } = await migrated.database.pool.query(
    'select 1 from simulator_operation where operation_id = $1',
    [left?.id],
  );
  assert.equal(rows.length, 1);
  assert.deepEqual(await books(key), { merchant: 3_000n, reserved: 0n, clearing: -3_000n });
});

test('refunds may take the balance below zero', async () => {
  const key = await migrated.merchant();
  const payment = await paid(key, 5_000n);
  // The merchant was settled in the meantime.
  await migrated.database.pool.query(
    `insert into balance_delta (merchant_id, id, shop_id, mode, currency, account, amount, hour, moved) values ($1, gen_random_uuid(), $2, $3, 'RUB', 'merchant', -5000, date_trunc('hour', now()), '{}')`,
    [key.merchantId, key.shopId, key.mode],
  );
  granted(await refund(key, payment, null));
  const [balance] = await readBalances(migrated.database.pool, key.merchantId, key.mode, 'RUB');
  assert.deepEqual([balance?.balance, balance?.available], [-5_000n, -5_000n]);
});

test('each successful refund is published with the payment as it was at that moment, to the payment’s own address; a failed one is not told there', async () => {
  const key = await migrated.merchant();
  const payment = await paid(key, 1_000n, 'https://shop.example/hook');
  let second = 100;
  for (const amount of [401n, 400n, null])
    await refund(key, payment, amount, { now: at(second++) });
  const { rows } = await migrated.database.pool.query<{
    stream_kind: string;
    payload: any;
    webhook_event: string;
    webhook_body: string;
    webhook_url: string;
  }>(
    'select stream_kind, payload, webhook_event, webhook_body, webhook_url from event where merchant_id = $1 and created_at >= $2 order by position',
    [key.merchantId, at(100).toString()],
  );
  const received = rows.map(
    ({ stream_kind, payload, webhook_event, webhook_body, webhook_url }) => {
      const data = webhook_body ? JSON.parse(webhook_body).data : null;
      const refunds = data?.refunds?.map((one: any) => `${one.status} ${one.amount}`).join(', ');
      return [
        stream_kind,
        payload?.amount ?? payload?.status,
        webhook_event,
        data && `${data.status} ${data.amount_refunded ?? data.amount}: ${refunds}`,
        webhook_url,
      ];
    },
  );
  const url = 'https://shop.example/hook';
  assert.deepEqual(received, [
    ['refund.created', 401, null, null, null],
    // The payment's own address is told of payments alone.
    [null, undefined, 'refund.failed', 'failed 401: undefined', null],
    ['refund.created', 400, null, null, null],
    [null, undefined, 'payment.refunded', 'succeeded 400: failed 401, succeeded 400', url],
    ['refund.created', 600, null, null, null],
    [
      'payment.status_changed',
      'refunded',
      'payment.refunded',
      'refunded 1000: failed 401, succeeded 400, succeeded 600',
      url,
    ],
  ]);
  const [first] = await refundsOf(payment);
  assert.deepEqual(rows[0]?.payload, {
    id: first?.id,
    payment_id: payment.id,
    amount: 401,
    status: 'pending',
  });
});

test('another shop’s or mode’s payment, an unknown one and a malformed id are not found; a reason has a limit', async () => {
  const key = await migrated.merchant();
  const payment = await paid(key, 1_000n);
  const stranger = await migrated.merchant();
  assert.equal(codeOf(await refund(stranger, payment, null)), 'not_found');
  assert.equal(
    codeOf(await refund({ ...key, shopId: stranger.shopId }, payment, null)),
    'not_found',
  );
  assert.equal(codeOf(await refund({ ...key, mode: 'live' }, payment, null)), 'not_found');
  assert.equal(codeOf(await refund(key, { ...payment, id: 'P-1' }, null)), 'not_found');
  const withReason = (reason: string) =>
    refundPayment(
      migrated.database,
      banks(),
      key,
      { paymentId: payment.id, amount: 100n, reason },
      at(100),
    );
  for (const reason of ['x'.repeat(1_001), '🎉'.repeat(1_001), 'a\0b', '\ud800'])
    assert.equal(codeOf(await withReason(reason)), 'bad_request', reason);
  assert.equal((await refundsOf(payment)).length, 0);
  assert.equal(codeOf(await withReason('🎉'.repeat(1_000))), 'not refused');
});

test('a refund and its reason are in the audit log, one that was refused is not', async () => {
  const key = await migrated.merchant();
  const payment = await paid(key, 5_000n);
  const made = granted(await refund(key, payment, 2_000n, { idempotencyKey: 'k' }));
  granted(await refund(key, payment, 2_000n, { idempotencyKey: 'k' }));
  assert.equal(codeOf(await refund(key, payment, 4_000n)), 'amount_exceeds_remainder');
  const { rows } = await migrated.database.pool.query(
    `select actor, role, action, subject_id, after,
      (select texts -> 'after' ->> 'reason' from audit_text where entry_id = audit_entry.id) as reason
      from audit_entry where merchant_id = $1 and subject_kind = $2`,
    [key.merchantId, 'refund'],
  );
  const after = { payment: payment.publicId, amount: 2_000, currency: 'RUB', reason: '[text]' };
  const done = { role: 'key', action: 'refund.create', subject_id: made.refund.id };
  assert.deepEqual(rows, [{ actor: key.keyId, ...done, after, reason: 'One ticket' }]);
});
