/**
 * How long sessions live at an acquirer and how their orders end there, by what each connector
 * declares.
 */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type {
  Bank,
  PaymentQuestion,
  SessionAnswer,
  SessionOrder,
} from '../../subgraphs/acquirers/bank.ts';
import { openAccounts } from '../../subgraphs/acquirers/bank-accounts.ts';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import type { OpenedBank } from '../../subgraphs/acquirers/connector.ts';
import { openTBank } from '../../subgraphs/acquirers/tbank/open-tbank.ts';
import { openYooKassa } from '../../subgraphs/acquirers/yookassa/open-yookassa.ts';
import { noPolicies } from '../support/no-policies.ts';
import { minorUnits } from '../../subgraphs/rules/money.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import { openSession } from '../../subgraphs/payments/checkout/open-session.ts';
import {
  shopAccount,
  startAcquirer,
  tbankTerminal,
  type Acquirer,
} from '../acquirer/start-acquirer.ts';
import { patience_ms } from '../support/eventually.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';

const hour = 60;
const inMinutes = (minutes: number): Temporal.Instant => Temporal.Now.instant().add({ minutes });

describe('the sessions of two acquirers', () => {
  let harness: {
    readonly acquirer: Acquirer;
    readonly record: MigratedDatabase;
    readonly tbank: OpenedBank;
    readonly yookassa: OpenedBank;
  };
  before(async () => {
    const [acquirer, record] = await Promise.all([startAcquirer(), startMigratedDatabase()]);
    const { pool } = record.database;
    const config = {
      url: acquirer.tbankApi,
      terminal: tbankTerminal.id,
      password: tbankTerminal.password,
      attempt_ms: patience_ms,
      hold_d: 7,
      register: null,
    };
    const accounts = openAccounts(pool, randomBytes(32), 'yookassa', {
      payments: shopAccount,
      payouts: null,
    });
    const yookassa = openYooKassa(
      { url: acquirer.api, payouts: null, attempt_ms: patience_ms },
      accounts,
      pool,
    );
    harness = { acquirer, record, tbank: openTBank(config, 'http://127.0.0.1:9', pool), yookassa };
  });
  after(async () => {
    await Promise.all([harness.tbank.close(), harness.yookassa.close()]);
    await Promise.all([harness.acquirer.stop(), harness.record.close()]);
  });

  const orderOf = (more: Partial<SessionOrder> = {}): SessionOrder => ({
    merchantId: randomUUID(),
    shopId: randomUUID(),
    operationId: randomUUID(),
    amount: minorUnits(10_000n),
    currency: 'RUB',
    method: 'sbp',
    card: null,
    planned: null,
    callbacks: null,
    pageUrl: 'http://127.0.0.1:9/pay/x',
    sessionUntil: inMinutes(20),
    reference: null,
    now: Temporal.Now.instant(),
    ...more,
  });
  const questionOf = (
    { merchantId, operationId, amount, currency }: SessionOrder,
    reference: string | null,
  ): PaymentQuestion => {
    const now = Temporal.Now.instant();
    return {
      merchantId,
      operationId,
      amount,
      currency,
      reference,
      createdEarlyAt: null,
      orderedAt: now,
      lastOrderedAt: now,
      method: 'sbp',
      voided: false,
      holds: false,
      saves: false,
      awaitsStep: false,
      now,
    };
  };
  const opened = (answer: SessionAnswer): SessionAnswer & { kind: 'opened' } =>
    answer.kind === 'opened' ? answer : assert.fail(JSON.stringify(answer));
  const atTBank = async ({ operationId }: SessionOrder): Promise<any[]> =>
    (await harness.acquirer.books()).tbank.payments.filter(
      ({ orderId }: any) => orderId === operationId,
    );

  test("an order whose declared hour ends before the buyer's session is replaced by another one; before that the same order is gone on with", async () => {
    const order = orderOf();
    const first = opened(await harness.yookassa.openSession(order));
    const again = async (sessionUntil: Temporal.Instant) =>
      opened(await harness.yookassa.openSession({ ...order, sessionUntil })).reference;
    assert.equal(harness.yookassa.sessionTtl_min, hour);
    assert.equal(await again(inMinutes(hour - 1)), first.reference);
    const second = await again(inMinutes(hour + 1));
    assert.notEqual(second, first.reference);
    assert.equal(await again(inMinutes(hour + 1)), second, 'and not by a third');
  });

  test('an order that was registered long before its buyer went on is found, though every answer to it was lost', async () => {
    const order = orderOf();
    const { reference } = opened(await harness.yookassa.openSession(order));
    const [createdEarlyAt, orderedAt, now] = [inMinutes(0), inMinutes(30), inMinutes(33)];
    const asked = {
      ...questionOf(order, null),
      createdEarlyAt,
      orderedAt,
      lastOrderedAt: orderedAt,
      now,
    };
    const found = await harness.yookassa.ask(asked);
    assert.equal(found.kind === 'pending' && found.session?.reference, reference);
    assert.equal((await harness.yookassa.ask({ ...asked, createdEarlyAt: null })).kind, 'unseen');
  });

  test('a session ends here when it ends at the bank, if that is sooner than ours would', async () => {
    const { database } = harness.record;
    const key = await harness.record.merchant('live');
    const route = `insert into bank_route (merchant_id, id, shop_id, mode, operation, method, connector, priority, active, created_at)
      values ($1, gen_random_uuid(), $2, 'live', 'payment', 'sbp', $3, 0, true, now())`;
    await database.pool.query(route, [key.merchantId, key.shopId, 'short']);
    const now = Temporal.Now.instant().round('millisecond');
    for (const [ttl_min, lasts_min] of [
      [5, 5],
      [hour, 20],
    ] as const) {
      const short: Bank = { ...harness.yookassa, connector: 'short', sessionTtl_min: ttl_min };
      const banks = openBanks(openSimulator(database), database.pool, [short]);
      const created = await recordPayment(
        database,
        noPolicies,
        key,
        { input: { amount: 10_000n, method: 'sbp' } },
        now,
      );
      if (isRefusal(created)) assert.fail(created.message);
      const request = {
        key: { merchantId: key.merchantId, paymentId: created.payment.id },
        card: null,
        pageUrl: 'https://pay.example/p',
        now,
      };
      const payment = await openSession(database, banks, noPolicies, request);
      if (isRefusal(payment)) assert.fail(payment.message);
      assert.equal(payment.processingUntil?.since(now).total('minutes'), lasts_min);
    }
  });

  test('an order that was registered lives until its buyer may come last, is gone on with, and is ended when its payment has ended', async () => {
    const { tbank } = harness;
    const order = orderOf();
    const { reference, stepUrl } = opened(
      await tbank.openSession({ ...order, payableUntil: inMinutes(7 * 24 * hour) }),
    );
    assert.equal(stepUrl, null, 'its address is not revealed');
    const found = await tbank.ask({ ...questionOf(order, reference), awaitsStep: true });
    assert.equal(
      found.kind === 'pending' && found.session?.reference,
      reference,
      'a buyer whose answer was lost is shown the same order',
    );
    const goOn = async () => opened(await tbank.openSession({ ...order, reference }));
    const on = await goOn();
    assert.deepEqual([on.reference, on.step, (await atTBank(order)).length], [reference, 'qr', 1]);
    const many = await Promise.all(
      Array.from({ length: 10 }, async () => tbank.cancelOrder?.(questionOf(order, reference))),
    );
    assert.ok(
      many.every((answer) => answer?.kind === 'declined' && answer.bankCode === 'CANCELED'),
      JSON.stringify(many),
    );
    await harness.acquirer.confirm(on.stepUrl ?? '', 'pay');
    assert.equal((await atTBank(order))[0].status, 'CANCELED');
    assert.notEqual((await goOn()).reference, reference, 'what was cancelled is not gone on with');
  });

  test('an order that was paid is reported as paid when it is to be ended; what the bank gave back whole is not ordered back again', async () => {
    const { tbank, acquirer } = harness;
    const order = orderOf();
    const { reference, stepUrl } = opened(await tbank.openSession(order));
    await acquirer.confirm(stepUrl ?? '', 'pay');
    assert.equal((await tbank.cancelOrder?.(questionOf(order, reference)))?.kind, 'approved');
    assert.equal((await atTBank(order))[0].status, 'CONFIRMED');
    const cards = orderOf({ method: 'cards' });
    const paid = opened(await tbank.openSession(cards));
    await acquirer.confirm(paid.stepUrl ?? '', 'pay');
    const back = () => {
      const { merchantId, amount, currency, now, operationId } = cards;
      const payment = { operationId, reference: paid.reference };
      return tbank.refund({
        merchantId,
        operationId: randomUUID(),
        payment,
        amount,
        currency,
        planned: null,
        reference: null,
        now,
      });
    };
    assert.deepEqual([(await back()).kind, (await back()).kind], ['approved', 'approved']);
    const given = (await acquirer.books()).tbank.cancels.filter(
      ({ orderId }: any) => orderId === cards.operationId,
    );
    assert.deepEqual(
      given.map(({ amount }: any) => amount),
      [10_000],
    );
  });

  test('everything that was asked and answered was as described', async () => {
    assert.deepEqual((await harness.acquirer.books()).violations, []);
  });
});
