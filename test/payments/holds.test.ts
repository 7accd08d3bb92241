/**
 * Captures, cancellations and the end of a hold at the same moment: one takes effect, and the bank
 * agrees; captures under a key.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Bank, HoldAnswer } from '../../subgraphs/acquirers/bank.ts';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { checkBooks } from '../support/check-books.ts';
import { isRefusal, type Refusal } from '../../subgraphs/rules/refusal.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import type { Payment } from '../../subgraphs/payments/entities.ts';
import { askBank } from '../../subgraphs/payments/bank-answers/ask-bank.ts';
import { capturePayment } from '../../subgraphs/payments/holds/capture-payment.ts';
import type { Created } from '../../subgraphs/platform/database/idempotency.ts';
import { cancelOrRelease, endHolds } from '../../subgraphs/payments/cancel-payment.ts';
import { capturedOf } from '../../subgraphs/payments/rules/amounts.ts';
import { findPayment } from '../../subgraphs/payments/store-payment.ts';
import { openHistory } from '../books/history.ts';
import { answered, granted } from '../support/granted.ts';
import { size } from '../support/size.ts';
import { openGate, repeatWhileAsking } from '../support/slow-answer.ts';
import { holdPayment } from '../support/held-payment.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';

const start = Temporal.Instant.from('2026-11-21T10:00:00Z');

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const banks = () => openBanks(openSimulator(migrated.database), migrated.database.pool);

/** A payment of a key whose money the bank holds, from 2 seconds after the start on. */
const authorized = (key: KeyPrincipal, amount = 10_000n): Promise<Payment> =>
  holdPayment(migrated, key, amount, start);

const stored = async ({ merchantId, id: paymentId }: Payment): Promise<Payment> =>
  (await findPayment(migrated.database.pool, { merchantId, paymentId }, start))?.payment ??
  assert.fail('gone');

const codeOf = (result: object): string => (isRefusal(result) ? result.code : 'done');

describe('fifty at once', () => {
  test('of captures, cancellations and the end of the hold one takes effect, and the bank agrees', async () => {
    const { database } = migrated;
    const key = await migrated.merchant('test');
    const ends = new Set<string>();
    for (let round = 0; round < size(5, 12); round++) {
      const payment = await authorized(key);
      const before = payment.captureBefore ?? assert.fail('no end');
      const inTime = before.subtract({ seconds: 1 });
      const capture = async (amount: bigint): Promise<string> =>
        codeOf(
          await capturePayment(database, banks(), key, { paymentId: payment.id, amount }, inTime),
        );
      const cancel = async (): Promise<string> =>
        codeOf(
          await cancelOrRelease(
            database,
            banks(),
            key,
            { paymentId: payment.id, requestId: 'r' },
            inTime,
          ),
        );
      const call = (index: number): Promise<string> => {
        // Another one comes first in each round.
        const turn = (index + round) % 3;
        if (turn === 0) return capture(BigInt(1_000 + 100 * index));
        if (turn === 1) return cancel();
        return endHolds(database, banks(), () => before).then(() => 'swept');
      };
      // In three rounds it is done before the others begin, so that each of them wins one.
      const first = call(0);
      if (round < 3) await first;
      const others = Array.from({ length: 49 }, (_, index) => call(index + 1));
      const answers = await Promise.all([first, ...others]);
      const found = await stored(payment);
      ends.add(found.status);
      const done = answers.filter((answer) => answer === 'done').length;
      assert.equal(done, found.status === 'expired' ? 0 : 1, `${found.status}: ${answers.join()}`);
      assert.deepEqual(
        new Set(answers.filter((answer) => answer !== 'done' && answer !== 'swept')),
        new Set(['payment_not_authorized', 'not_pending']),
      );
      const { rows } = await database.pool.query(
        'select kind, amount::text from simulator_hold_order where payment_id = $1',
        [payment.id],
      );
      const wanted =
        found.status === 'succeeded'
          ? { kind: 'capture', amount: String(capturedOf(found)) }
          : { kind: 'release', amount: '10000' };
      assert.deepEqual(rows, [wanted]);
    }
    assert.deepEqual(ends, new Set(['succeeded', 'cancelled', 'expired']));
    const { rows: sums } = await database.pool.query(
      `select (select coalesce(sum(amount), 0)::text from posting where merchant_id = $1 and type = 'payment') as booked,
        (select coalesce(sum(amount), 0)::text from simulator_hold_order where merchant_id = $1 and kind = 'capture') as taken`,
      [key.merchantId],
    );
    assert.equal(sums[0].booked, sums[0].taken);
    assert.deepEqual(await checkBooks(database), []);
  });
});

test('a capture that the balance has no room for is turned down, at the bank, too, and less may be taken', async () => {
  const { database } = migrated;
  const key = await migrated.merchant('test');
  await openHistory(migrated).pay(key, 9_007_199_254_740_991n - 5_000n);
  const payment = await authorized(key);
  const capture = (amount: bigint) =>
    capturePayment(
      database,
      banks(),
      key,
      { paymentId: payment.id, amount },
      start.add({ seconds: 3 }),
    );
  const refused = await capture(10_000n);
  assert.equal(codeOf(refused), 'capture_declined', JSON.stringify(refused));
  assert.equal((await stored(payment)).status, 'authorized');
  assert.equal(granted(await capture(5_000n)).made.status, 'succeeded');
  const { rows } = await database.pool.query(
    'select amount::text, failure_code from simulator_hold_order where payment_id = $1 order by simulator_hold_order.amount',
    [payment.id],
  );
  assert.deepEqual(rows, [
    { amount: '5000', failure_code: null },
    { amount: '10000', failure_code: 'limit_exceeded' },
  ]);
  assert.deepEqual(await checkBooks(database, key.merchantId), []);
});

describe('a capture under a key', () => {
  test('is made once, however often and at however many places it is sent', async () => {
    const { database } = migrated;
    const key = await migrated.merchant('test');
    const payment = await authorized(key);
    const now = start.add({ seconds: 3 });
    const capture = (amount: bigint | null, idempotencyKey = 'c-1') =>
      capturePayment(
        database,
        banks(),
        key,
        { paymentId: payment.id, amount, idempotency: { key: idempotencyKey } },
        now,
      );
    assert.equal(codeOf(await capture(20_000n)), 'amount_exceeds_remainder');
    // What was refused leaves its key free, what the bank refused, too.
    assert.equal(codeOf(await capture(1_001n)), 'capture_declined');
    const all = await Promise.all(
      Array.from({ length: 10 }, () => answered(() => capture(4_000n))),
    );
    const made = all.map((one) => granted<Exclude<typeof one, Refusal>>(one));
    assert.equal(made.filter(({ replayed }) => !replayed).length, 1);
    const again = granted(await capture(4_000n));
    assert.deepEqual([again.replayed, again.made.status], [true, 'succeeded']);
    assert.equal(codeOf(await capture(5_000n)), 'idempotent_conflict');
    assert.equal(codeOf(await capture(4_000n, 'c-2')), 'payment_not_authorized');
    const { rows } = await database.pool.query(
      `select action, after ->> 'amount' as amount from audit_entry where merchant_id = $1 and subject_id = $2 order by id`,
      [key.merchantId, payment.id],
    );
    assert.deepEqual(rows, [
      { action: 'payment.capture', amount: '1001' },
      { action: 'payment.capture', amount: '4000' },
    ]);
  });

  test('has one answer for calls that arrive while its bank is asked, and for those that come after', async () => {
    const { database } = migrated;
    const key = await migrated.merchant('test');
    const simulator = openSimulator(database);
    const settle = simulator.settleHold ?? assert.fail('no holds');
    // The bank takes the money, or gives no word.
    for (const [silent, status, captured] of [
      [false, 'succeeded', 4_000n],
      [true, 'authorized', 0n],
    ] as const) {
      const payment = await authorized(key);
      const gate = openGate();
      const bank: Bank = {
        ...simulator,
        settleHold: async (order) => {
          await gate.pass();
          return silent ? { kind: 'unknown' } : settle(order);
        },
      };
      const own = openBanks({ ...simulator, ...bank }, database.pool);
      const request = { paymentId: payment.id, amount: 4_000n, idempotency: { key: payment.id } };
      const answers = await repeatWhileAsking(database.pool, gate, () =>
        capturePayment(database, own, key, request, start.add({ seconds: 3 })),
      );
      assert.deepEqual(
        answers
          .map((one) => granted<Created<Payment>>(one))
          .map((one) => [one.made.status, capturedOf(one.made), one.replayed]),
        answers.map((_, index) => [status, captured, index > 0]),
      );
    }
    assert.deepEqual(await checkBooks(database, key.merchantId), []);
  });

  test('that the bank refuses after its answer is ordered anew by the same call, once', async () => {
    const { database } = migrated;
    const key = await migrated.merchant('test');
    const payment = await authorized(key);
    const simulator = openSimulator(database);
    const answers: HoldAnswer[] = [
      { kind: 'unknown' },
      { kind: 'declined', failureCode: 'issuer_unavailable', bankCode: 'x' },
    ];
    let orders = 0;
    const bank: Bank = {
      ...simulator,
      settleHold: async (order) => {
        orders += 1;
        return answers.shift() ?? simulator.settleHold?.(order) ?? assert.fail('no holds');
      },
    };
    const own = openBanks({ ...simulator, ...bank }, database.pool);
    const capture = async (seconds: number) => {
      const request = { paymentId: payment.id, amount: null, idempotency: { key: 'c-1' } };
      return granted<Created<Payment>>(
        await capturePayment(database, own, key, request, start.add({ seconds })),
      );
    };
    const first = await capture(10);
    assert.deepEqual([first.made.status, first.replayed], ['authorized', false]);
    const { merchantId, id: paymentId } = payment;
    granted(await askBank(database, own, { merchantId, paymentId }, start.add({ seconds: 60 })));
    assert.equal((await stored(payment)).holdOrder, null);
    orders = 0;
    const again = await Promise.all(Array.from({ length: 8 }, () => capture(120)));
    assert.deepEqual([again.filter(({ replayed }) => !replayed).length, orders], [1, 1]);
    assert.equal((await stored(payment)).status, 'succeeded');
    assert.deepEqual(await checkBooks(database, merchantId), []);
  });

  test('another shop and another mode do not find the payment', async () => {
    const { database } = migrated;
    const payment = await authorized(await migrated.merchant('test'));
    const stranger = await migrated.merchant('test');
    const now = start.add({ seconds: 3 });
    const request = { paymentId: payment.id, amount: null };
    for (const caller of [
      stranger,
      { ...stranger, merchantId: payment.merchantId },
      {
        ...stranger,
        merchantId: payment.merchantId,
        shopId: payment.shopId,
        mode: 'live' as const,
      },
    ]) {
      assert.equal(
        codeOf(await capturePayment(database, banks(), caller, request, now)),
        'not_found',
      );
      const asked = { paymentId: payment.id, requestId: 'r' };
      assert.equal(
        codeOf(await cancelOrRelease(database, banks(), caller, asked, now)),
        'not_found',
      );
    }
    assert.equal((await stored(payment)).status, 'authorized');
  });
});
