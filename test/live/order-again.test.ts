/**
 * An order that was lost between the move to `processing` and its bank is given again, at each of
 * the acquirers: once, whenever the first one arrives.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Bank, Card, SessionAnswer } from '../../subgraphs/acquirers/bank.ts';
import { openAccounts } from '../../subgraphs/acquirers/bank-accounts.ts';
import { openBanks, type Banks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { openTBank } from '../../subgraphs/acquirers/tbank/open-tbank.ts';
import { openYooKassa } from '../../subgraphs/acquirers/yookassa/open-yookassa.ts';
import { noPolicies } from '../support/no-policies.ts';
import { isRefusal, type Refusal } from '../../subgraphs/rules/refusal.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import type { Payment } from '../../subgraphs/payments/entities.ts';
import { expirePayments } from '../../subgraphs/payments/expire-payments.ts';
import { openSession } from '../../subgraphs/payments/checkout/open-session.ts';
import { askOrOrder } from '../../subgraphs/payments/bank-answers/order-again.ts';
import type { BuyerMethod } from '../../subgraphs/rules/banks.ts';
import { orderState } from '../../subgraphs/payments/rules/order.ts';
import { findPayment } from '../../subgraphs/payments/store-payment.ts';
import {
  shopAccount,
  startAcquirer,
  tbankTerminal,
  type Acquirer,
} from '../acquirer/start-acquirer.ts';
import { granted } from '../support/granted.ts';
import { patience_ms } from '../support/eventually.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { cardOf } from './harness.ts';

const pageUrl = 'http://127.0.0.1:9/pay/x';
const secret = Buffer.alloc(32);
/** When a test begins: the bank, whose time is the real one, looks for orders by when they came. */
let start: Temporal.Instant;
const at = (seconds: number): Temporal.Instant => start.add({ seconds });

type Connector = 'yookassa' | 'tbank';
/**
 * What becomes of the next order: lost before the bank, lost after it, or held back for so long.
 */
type Fate = 'before' | 'after' | Promise<unknown>;

describe('an order that was lost', () => {
  let acquirer: Acquirer;
  let record: MigratedDatabase;
  let banks: Banks;
  let closing: AsyncDisposableStack;
  const fates: Fate[] = [];

  /** The bank, and a process in front of it that dies as planned. */
  const mortal = (bank: Bank): Bank => ({
    ...bank,
    openSession: async (order): Promise<SessionAnswer> => {
      const fate = fates.shift();
      if (fate === 'before') throw new Error('killed');
      if (typeof fate === 'object') await fate;
      const answer = await bank.openSession(order);
      if (fate === 'after') throw new Error('killed');
      return answer;
    },
  });

  before(async () => {
    closing = new AsyncDisposableStack();
    [acquirer, record] = await Promise.all([startAcquirer(), startMigratedDatabase()]);
    closing.defer(() => acquirer.stop());
    closing.defer(() => record.close());
    const { pool } = record.database;
    const accounts = openAccounts(pool, randomBytes(32), 'yookassa', {
      payments: shopAccount,
      payouts: null,
    });
    const yookassa = openYooKassa(
      { url: acquirer.api, payouts: null, attempt_ms: patience_ms },
      accounts,
      pool,
    );
    const terminal = {
      url: acquirer.tbankApi,
      terminal: tbankTerminal.id,
      password: tbankTerminal.password,
      attempt_ms: patience_ms,
      hold_d: 7,
      register: null,
    };
    const tbank = openTBank(terminal, 'http://127.0.0.1:9', pool);
    closing.defer(() => yookassa.close());
    closing.defer(() => tbank.close());
    banks = openBanks(openSimulator(record.database), pool, [mortal(yookassa), mortal(tbank)]);
  });
  beforeEach(() => void (start = Temporal.Now.instant().round('millisecond')));
  after(() => closing.disposeAsync());

  const create = async (connector: Connector, method: BuyerMethod): Promise<Payment> => {
    const key = await record.merchant('live');
    await record.database.pool.query(
      `insert into bank_route (merchant_id, id, shop_id, mode, operation, method, connector, priority, active, created_at)
        values ($1, gen_random_uuid(), $2, 'live', 'payment', $3, $4, 0, true, now())`,
      [key.merchantId, key.shopId, method, connector],
    );
    return granted(
      await recordPayment(
        record.database,
        noPolicies,
        key,
        { input: { amount: 10_000n, method } },
        start,
      ),
    ).payment;
  };
  const keyOf = ({ merchantId, id }: Payment) => ({ merchantId, paymentId: id });
  const press = (
    payment: Payment,
    seconds: number,
    card: Card | null = null,
  ): Promise<Payment | Refusal> =>
    openSession(record.database, banks, noPolicies, {
      key: keyOf(payment),
      card,
      pageUrl,
      now: at(seconds),
    });
  const sweep = async (payment: Payment, seconds: number): Promise<Payment> =>
    granted(
      await askOrOrder(
        { database: record.database, banks, publicUrl: 'http://127.0.0.1:9', pageSecret: secret },
        keyOf(payment),
        at(seconds),
      ),
    );
  const stored = async (payment: Payment): Promise<Payment> =>
    (await findPayment(record.database.pool, keyOf(payment), start))?.payment ??
    assert.fail('gone');
  const lost = async (
    payment: Payment,
    moment: 'before' | 'after',
    card: Card | null = null,
  ): Promise<void> => {
    fates.push(moment);
    await assert.rejects(press(payment, 0, card), /killed/);
    assert.equal(orderState(await stored(payment)), 'unanswered');
  };
  const atBank = async ({ id, connector }: Payment): Promise<readonly any[]> => {
    const books = await acquirer.books();
    if (connector === 'tbank') return books.tbank.payments.filter(({ orderId }) => orderId === id);
    return books.payments.filter(({ metadata }) => metadata.operation_id === id);
  };
  const paidAt = (payments: readonly any[]): number =>
    payments.filter(({ status }) => status === 'succeeded' || status === 'CONFIRMED').length;
  const paid = async (payment: Payment, seconds: number): Promise<void> => {
    const { stepUrl } = await stored(payment);
    if (stepUrl) await acquirer.confirm(stepUrl, 'pay');
    assert.equal((await sweep(payment, seconds)).status, 'succeeded');
    assert.equal(paidAt(await atBank(await stored(payment))), 1, 'paid once');
  };

  const buttons = [
    ['yookassa', 'sbp'],
    ['yookassa', 'tpay'],
    ['yookassa', 'sberpay'],
    ['tbank', 'sbp'],
    ['tbank', 'tpay'],
    ['tbank', 'cards'],
  ] as const;
  for (const [connector, method] of buttons) {
    for (const moment of ['before', 'after'] as const) {
      test(`${method} at ${connector}, ${moment} the bank: the sweep gives it again or finds it, and the buyer pays once`, async () => {
        const payment = await create(connector, method);
        await lost(payment, moment);
        assert.equal((await sweep(payment, 31)).status, 'processing');
        const again = await sweep(payment, 95);
        assert.deepEqual([again.status, orderState(again)], ['processing', 'standing']);
        assert.notEqual(again.stepUrl, null);
        await paid(payment, 120);
      });
    }

    test(`${method} at ${connector}: presses of several tabs after the loss lead to one address`, async () => {
      const payment = await create(connector, method);
      await lost(payment, 'before');
      const tabs = await Promise.all(Array.from({ length: 6 }, () => press(payment, 5)));
      const opened = tabs.flatMap((tab) => (isRefusal(tab) ? [] : [tab.stepUrl]));
      const codes = tabs.flatMap((tab) => (isRefusal(tab) ? [tab.code] : []));
      assert.deepEqual([new Set(opened).size, new Set(codes)], [1, new Set(['not_pending'])]);
      assert.equal((await stored(payment)).stepUrl, opened[0]);
      await paid(payment, 20);
    });
  }

  test('a card at YooKassa, before the bank: it is typed again in the same payment, at once or when the bank surely has nothing', async () => {
    const [early, late] = [await create('yookassa', 'cards'), await create('yookassa', 'cards')];
    await lost(early, 'before', cardOf());
    await lost(late, 'before', cardOf());
    assert.equal(granted(await press(early, 5, cardOf())).status, 'processing');
    await paid(early, 10);
    assert.equal(orderState(await sweep(late, 31)), 'unanswered', 'its list may be late');
    assert.equal(orderState(await sweep(late, 70)), 'absent');
    const bare = await press(late, 80);
    assert.equal(isRefusal(bare) && bare.code, 'bad_request', 'the card is needed');
    const misplaced = await press(late, 85, { ...cardOf(), holder: 'card 5555 5555 5555 4444' });
    assert.equal(
      isRefusal(misplaced) && misplaced.code,
      'bad_request',
      'the holder is kept, and a number is not',
    );
    assert.equal(
      granted(await press(late, 90, { ...cardOf(), holder: 'ANNA IVANOVA' })).customerCardHolder,
      'ANNA IVANOVA',
    );
    await paid(late, 95);
  });

  test('a card whose answer was lost is found at YooKassa, and another one that is typed meanwhile is not charged, too', async () => {
    const payment = await create('yookassa', 'cards');
    await lost(payment, 'after', cardOf());
    const other = granted(
      await press(payment, 5, { ...cardOf('5555555555554444'), holder: 'ANNA IVANOVA' }),
    );
    assert.deepEqual(
      [other.status, other.customerCardHolder],
      ['processing', 'IVAN PETROV'],
      'what is refused now was accepted before',
    );
    await paid(payment, 40);
    assert.equal((await atBank(await stored(payment))).length, 1);
  });

  for (const [connector, method] of [
    ['yookassa', 'sbp'],
    ['yookassa', 'cards'],
    ['tbank', 'tpay'],
  ] as const) {
    test(`${method} at ${connector}: a first order that arrives while the second goes out has one effect`, async () => {
      const payment = await create(connector, method);
      const card = method === 'cards' ? cardOf() : null;
      const held = Promise.withResolvers<void>();
      fates.push(held.promise);
      const first = press(payment, 0, card);
      while ((await stored(payment)).status !== 'processing')
        await new Promise((resolve) => setImmediate(resolve));
      const second = press(payment, 10, card);
      setImmediate(held.resolve);
      const [one, other] = [granted(await first), await second];
      const final = await stored(payment);
      for (const answered of isRefusal(other) ? [one] : [one, other])
        assert.equal(answered.stepUrl, final.stepUrl);
      await paid(payment, 20);
    });
  }

  test('a refusal of an order that is given again does not fail what may have been accepted; no other bank is given it', async () => {
    const payment = await create('yookassa', 'sbp');
    await lost(payment, 'after');
    const otherwise = {
      kind: 'declined',
      failureCode: 'method_unavailable',
      bankCode: '401',
    } as const;
    for (const answer of [{ kind: 'unaccepted', otherwise }, otherwise] as const) {
      const refusing: Bank = {
        ...granted(banks.bankOf({ mode: 'live', connector: 'yookassa' })),
        openSession: async () => answer,
      };
      const now = at(5);
      const again = await openSession(
        record.database,
        { ...banks, bankOf: () => refusing },
        noPolicies,
        { key: keyOf(payment), card: null, pageUrl, now },
      );
      assert.equal(granted(again).status, 'processing', answer.kind);
    }
    assert.equal(orderState(await sweep(payment, 40)), 'standing', 'the bank had it');
    await paid(payment, 60);
  });

  test('an order that no bank has taken waits for another press or sweep; a refusal of what the bank had not seen counts', async () => {
    const [waiting, failing] = [
      await create('yookassa', 'cards'),
      await create('yookassa', 'cards'),
    ];
    for (const payment of [waiting, failing]) {
      await lost(payment, 'before', cardOf());
      assert.equal(orderState(await sweep(payment, 70)), 'absent');
    }
    const otherwise = { kind: 'declined', failureCode: 'incorrect_cvc', bankCode: 'csc' } as const;
    const answering = (answer: SessionAnswer): Banks => ({
      ...banks,
      bankOf: () => ({
        ...granted(banks.bankOf({ mode: 'live', connector: 'yookassa' })),
        openSession: async () => answer,
      }),
    });
    const again = async (payment: Payment, answer: SessionAnswer): Promise<Payment> =>
      granted(
        await openSession(record.database, answering(answer), noPolicies, {
          key: keyOf(payment),
          card: cardOf(),
          pageUrl,
          now: at(80),
        }),
      );
    assert.equal(orderState(await again(waiting, { kind: 'unaccepted', otherwise })), 'absent');
    assert.equal((await again(failing, otherwise)).failureCode, 'incorrect_cvc');
    await press(waiting, 90, cardOf());
    await paid(waiting, 95);
  });

  test('a sweep that dies, too, is followed by the next one; a returning buyer does not let it expire', async () => {
    const [payment, abandoned] = [
      await create('tbank', 'cards'),
      await create('yookassa', 'cards'),
    ];
    await lost(payment, 'before');
    await lost(abandoned, 'before', cardOf());
    fates.push('after');
    await assert.rejects(sweep(payment, 95), /killed/);
    assert.equal(
      orderState(await sweep(payment, 130)),
      'unanswered',
      'the second order has its own time to arrive',
    );
    assert.equal(orderState(await sweep(payment, 190)), 'standing');
    await paid(payment, 220);
    assert.equal((await sweep(abandoned, 100)).status, 'processing');
    await expirePayments(record.database, banks, () => at(20 * 60));
    const { status, failureCode } = await stored(abandoned);
    assert.deepEqual([status, failureCode], ['expired', 'session_expired']);
  });

  test('without live mode nothing is ordered again', async () => {
    const payment = await create('yookassa', 'sbp');
    await lost(payment, 'before');
    await record.database.pool.query('update merchant set live_enabled = false where id = $1', [
      payment.merchantId,
    ]);
    const pressed = await press(payment, 5);
    assert.equal(isRefusal(pressed) && pressed.code, 'live_not_enabled');
    assert.deepEqual(
      [orderState(await sweep(payment, 95)), await atBank(await stored(payment))],
      ['absent', []],
    );
  });
});
