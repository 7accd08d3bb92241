/**
 * The connector to T-Bank alone, ordered about by many at the same time: the bank has no
 * idempotency keys for what these orders do.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { OpenedBank } from '../../subgraphs/acquirers/connector.ts';
import { openTBank } from '../../subgraphs/acquirers/tbank/open-tbank.ts';
import { minorUnits } from '../../subgraphs/rules/money.ts';
import { startAcquirer, tbankTerminal, type Acquirer } from '../acquirer/start-acquirer.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { eventually, patience_ms } from '../support/eventually.ts';

describe('the connector to T-Bank, ordered about by many at once', () => {
  let harness: {
    readonly acquirer: Acquirer;
    readonly record: MigratedDatabase;
    readonly banks: readonly OpenedBank[];
  };
  before(async () => {
    const [acquirer, record] = await Promise.all([startAcquirer(), startMigratedDatabase()]);
    const config = {
      url: acquirer.tbankApi,
      terminal: tbankTerminal.id,
      password: tbankTerminal.password,
      attempt_ms: patience_ms,
      hold_d: 7,
      register: null,
    };
    // Two processes of the service.
    harness = {
      acquirer,
      record,
      banks: [1, 2].map(() => openTBank(config, 'http://127.0.0.1:9', record.database.pool)),
    };
  });
  after(async () => {
    await Promise.all(harness.banks.map((bank) => bank.close()));
    await Promise.all([harness.acquirer.stop(), harness.record.close()]);
  });

  const merchantId = randomUUID();
  const books = async () => (await harness.acquirer.books()).tbank;
  const atOnce = <Answer>(
    order: (bank: OpenedBank) => Promise<Answer>,
  ): Promise<readonly Answer[]> =>
    Promise.all(
      Array.from({ length: 10 }, (_, index) => index).flatMap((index) =>
        harness.banks.slice(index % 2, (index % 2) + 1).map(order),
      ),
    );
  const ordered = (operationId: string, amount: bigint) => ({
    merchantId,
    operationId,
    amount: minorUnits(amount),
    currency: 'RUB',
    now: Temporal.Now.instant(),
  });

  /** A session that its buyer has paid. */
  const paid = async (method: 'sbp' | 'cards', amount: bigint, save = false): Promise<string> => {
    const [bank] = harness.banks;
    const operationId = randomUUID();
    const sessionUntil = Temporal.Now.instant().add({ minutes: 10 });
    const order = {
      ...ordered(operationId, amount),
      shopId: randomUUID(),
      method,
      card: null,
      planned: null,
      callbacks: null,
      pageUrl: 'http://127.0.0.1:9/pay/x',
      sessionUntil,
      reference: null,
    };
    const answer = await bank?.openSession({
      ...order,
      ...(save ? { save: { verification: false } } : {}),
    });
    assert.equal(answer?.kind, 'opened');
    await harness.acquirer.confirm(answer?.kind === 'opened' ? (answer.stepUrl ?? '') : '', 'pay');
    return operationId;
  };

  test('ten orders of one charge are one charge', async () => {
    await paid('cards', 10_000n, true);
    const [card] = (await books()).cards;
    const operationId = randomUUID();
    const order = {
      ...ordered(operationId, 4_900n),
      savedReference: card.rebillId,
      planned: null,
      isFirst: false,
    };
    const answers = await atOnce((bank) => bank.charge(order));
    assert.ok(
      answers.every(({ kind }) => kind === 'approved' || kind === 'unknown' || kind === 'pending'),
      JSON.stringify(answers),
    );
    const last = await eventually(async () => {
      const [answer] = await atOnce((bank) => bank.charge(order));
      return answer?.kind === 'approved' && answer;
    }, 'the charge');
    const made = (await books()).payments.filter(({ orderId }) => orderId === operationId);
    assert.deepEqual(
      made.flatMap(({ id, paidBy }) => (paidBy === null ? [] : [id])),
      [last.reference],
    );
  });

  for (const method of ['cards', 'sbp'] as const) {
    test(`ten orders of one refund by ${method} are one refund, and ten of the next one the next`, async () => {
      const paymentId = await paid(method, 10_000n);
      const payment = { operationId: paymentId, reference: null };
      for (const amount of [3_000n, 7_000n]) {
        const order = { ...ordered(randomUUID(), amount), payment, planned: null, reference: null };
        const answers = await atOnce((bank) => bank.refund(order));
        assert.ok(
          answers.every(({ kind }) => kind !== 'declined'),
          JSON.stringify(answers),
        );
        await eventually(async () => {
          const [bank] = harness.banks;
          const answer = await bank?.refund({ ...order, reference: order.operationId });
          return answer?.kind === 'approved';
        }, `the refund of ${amount}`);
      }
      const given = (await books()).cancels.filter(({ orderId }) => orderId === paymentId);
      assert.deepEqual(
        given.map(({ amount, status }) => [amount, status]),
        [
          [3_000, 'succeeded'],
          [7_000, 'succeeded'],
        ],
      );
    });
  }

  test('a refund by SBP that the bank gave back to the payment has failed', async () => {
    const paymentId = await paid('sbp', 10_000n);
    const order = {
      ...ordered(randomUUID(), 1_001n),
      payment: { operationId: paymentId, reference: null },
      planned: null,
      reference: null,
    };
    const [bank] = harness.banks;
    const first = await bank?.refund(order);
    assert.equal(first?.kind, 'pending');
    const last = await eventually(async () => {
      const answer = await bank?.refund({ ...order, reference: order.operationId });
      return answer?.kind === 'declined' && answer;
    }, 'the end');
    assert.equal(last.failureCode, 'refund_rejected');
  });

  test('the books of the bank hold nothing that was asked or answered otherwise than described', async () => {
    assert.deepEqual((await harness.acquirer.books()).violations, []);
  });
});
