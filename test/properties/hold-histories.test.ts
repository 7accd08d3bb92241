import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { openBanks, type Banks } from '../../subgraphs/acquirers/route.ts';
import type { Bank, BankAnswer, HoldAnswer, HoldOrder } from '../../subgraphs/acquirers/bank.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { checkBooks } from '../support/check-books.ts';
import { noPolicies } from '../support/no-policies.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { applyBankAnswer } from '../../subgraphs/payments/bank-answers/apply-bank-answer.ts';
import { openSession } from '../../subgraphs/payments/checkout/open-session.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import { expirePayments } from '../../subgraphs/payments/expire-payments.ts';
import { capturePayment } from '../../subgraphs/payments/holds/capture-payment.ts';
import { cancelOrRelease, endHolds } from '../../subgraphs/payments/cancel-payment.ts';
import { capturedOf } from '../../subgraphs/payments/rules/amounts.ts';
import { sendHoldOrder } from '../../subgraphs/payments/holds/send-hold-order.ts';
import { refundPayment } from '../../subgraphs/payments/refunds/refund-payment.ts';
import { findPayment } from '../../subgraphs/payments/store-payment.ts';
import { granted } from '../support/granted.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { size } from '../support/size.ts';
import { searching } from '../fuzz/cases.ts';
import {
  captureRefusal,
  held_min,
  holdAfter,
  isOpen,
  moneyOf,
  newHold,
  refundRefusal,
  shareOf,
  type HoldModel,
  type HoldStep,
  type Word,
} from './hold-model.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const start = Temporal.Instant.from('2026-11-21T10:00:00Z');
const traits = {
  cardBrand: null,
  cardMask: null,
  cardHolder: null,
  phoneMask: null,
  payerBank: null,
};

/** One two-step payment on the real verbs; the bank says what the history says. */
class LivedHold {
  readonly key: KeyPrincipal;
  readonly id: string;
  #calls = 0;
  #minutes = 0;
  /** What the bank was ordered, under which key. */
  readonly #ordered = new Map<string, string>();

  constructor(key: KeyPrincipal, id: string) {
    this.key = key;
    this.id = id;
  }

  get #of() {
    return { merchantId: this.key.merchantId, paymentId: this.id };
  }

  #now(): Temporal.Instant {
    this.#calls += 1;
    return start.add({ minutes: this.#minutes, milliseconds: this.#calls });
  }

  #bank(word: Word): Banks {
    const banks = openBanks(openSimulator(migrated.database), migrated.database.pool);
    const settleHold = async (order: HoldOrder): Promise<HoldAnswer> => {
      const text = `${order.kind} ${order.amount}`;
      assert.equal(this.#ordered.get(order.operationId) ?? text, text, 'one order for a key');
      this.#ordered.set(order.operationId, text);
      if (word === 'silent') return { kind: 'unknown' };
      if (word === 'refused')
        return { kind: 'declined', failureCode: 'do_not_honor', bankCode: 'x' };
      return order.kind === 'capture'
        ? { kind: 'captured', amount: order.amount }
        : { kind: 'released' };
    };
    const bank: Bank = {
      ...banks.simulator,
      settleHold,
      ask: async () => ({ kind: 'unknown' }),
      refund: async () => ({ kind: 'approved', reference: 'r' }),
    };
    return {
      ...banks,
      candidates: async () => [bank],
      route: async () => bank,
      bankOf: () => bank,
    };
  }

  async take(step: HoldStep, model: HoldModel): Promise<string | null> {
    const { database } = migrated;
    const codeOf = (answer: object): string | null => (isRefusal(answer) ? answer.code : null);
    switch (step.do) {
      case 'session': {
        const asked = { key: this.#of, card: null, pageUrl: 'https://pay.example/p' };
        await openSession(database, this.#bank('silent'), noPolicies, {
          ...asked,
          now: this.#now(),
        });
        return null;
      }
      case 'wait': {
        this.#minutes = model.at_min + step.minutes;
        const now = this.#now();
        while ((await expirePayments(database, this.#bank('silent'), () => now)) > 0);
        await endHolds(database, this.#bank('silent'), () => now);
        return null;
      }
      case 'bank': {
        const now = this.#now();
        const captureBefore = now.add({ minutes: held_min });
        const answers: Record<typeof step.says, BankAnswer> = {
          holds: { kind: 'authorized', reference: 'r', rrn: '1', traits, captureBefore },
          declines: { kind: 'declined', failureCode: 'do_not_honor', bankCode: 'x' },
          released: { kind: 'released' },
        };
        await Promise.all(
          Array.from({ length: step.times }, () =>
            applyBankAnswer(database, this.#of, 'bank', answers[step.says], now),
          ),
        );
        return null;
      }
      case 'capture': {
        const request = { paymentId: this.id, amount: shareOf(model.amount, step.share) };
        return codeOf(
          await capturePayment(database, this.#bank(step.word), this.key, request, this.#now()),
        );
      }
      case 'cancel': {
        const asked = { paymentId: this.id, requestId: '' };
        return codeOf(
          await cancelOrRelease(database, this.#bank(step.word), this.key, asked, this.#now()),
        );
      }
      case 'ask': {
        const [banks, now] = [this.#bank(step.word), this.#now()];
        await Promise.all(
          Array.from({ length: step.times }, () => sendHoldOrder(database, banks, this.#of, now)),
        );
        return null;
      }
      case 'refund': {
        const amount = shareOf(model.amount, step.share);
        const request = { paymentId: this.id, amount, reason: null };
        return codeOf(
          await refundPayment(database, this.#bank('done'), this.key, request, this.#now()),
        );
      }
    }
  }

  async seen() {
    const { pool } = migrated.database;
    const found = (await findPayment(pool, this.#of, start)) ?? assert.fail('gone');
    const { status, holdOrder, amountRefunded } = found.payment;
    return { status, order: holdOrder, captured: capturedOf(found.payment), amountRefunded };
  }

  async texts(query: string): Promise<string[]> {
    const { rows } = await migrated.database.pool.query<{ text: string }>(query, [
      this.key.merchantId,
    ]);
    return rows.map(({ text }) => text);
  }
}

/** What the answer to a step refuses; null: nothing. */
const refusalOf = (model: HoldModel, step: HoldStep): string | null => {
  switch (step.do) {
    case 'capture':
      return (
        captureRefusal(model, step.share) ?? (step.word === 'refused' ? 'capture_declined' : null)
      );
    case 'cancel':
      return model.status === 'pending' || isOpen(model) ? null : 'not_pending';
    case 'refund':
      return refundRefusal(model, step.share);
    case 'session':
    case 'wait':
    case 'bank':
    case 'ask':
      return null;
  }
};

const word = fc.constantFrom<Word>('done', 'done', 'refused', 'silent');
const times = fc.integer({ min: 1, max: 3 });
const share = fc.option(fc.integer({ min: 0, max: 101 }), { freq: 2 });
const step: fc.Arbitrary<HoldStep> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<HoldStep>({ do: 'session' }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('wait'), minutes: fc.integer({ min: 1, max: 30 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('bank'),
      says: fc.constantFrom('holds', 'holds', 'declines', 'released'),
      times,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('capture'), share, word }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel'), word }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('ask'), word, times }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('refund'), share }) },
);
const held: readonly HoldStep[] = [{ do: 'session' }, { do: 'bank', says: 'holds', times: 2 }];
const beginning = fc.constantFrom<readonly HoldStep[]>(
  [{ do: 'session' }],
  [{ do: 'session' }, { do: 'wait', minutes: 20 }],
  held,
  held,
  [...held, { do: 'capture', share: 60, word: 'done' }],
  [...held, { do: 'wait', minutes: 40 }],
  // The bank speaks of the hold while its word on an order is not known.
  [
    ...held,
    { do: 'capture', share: null, word: 'silent' },
    { do: 'bank', says: 'released', times: 1 },
  ],
);
interface History {
  mode: 'test' | 'live';
  amount: bigint;
  steps: [readonly HoldStep[], readonly HoldStep[]];
}
const history: fc.Arbitrary<History> = fc.record({
  mode: fc.constantFrom('test', 'live'),
  amount: fc.bigInt({ min: 1n, max: 9_007_199_254_740_991n }),
  steps: fc.tuple(beginning, fc.array(step, { minLength: 1, maxLength: 12 })),
});

/** Lived first: what happens in them is met, whatever the others are. */
const alwaysLived = (
  [
    [{ do: 'session' }, { do: 'bank', says: 'declines', times: 1 }],
    [
      ...held,
      { do: 'refund', share: null },
      { do: 'capture', share: 101, word: 'done' },
      { do: 'capture', share: 60, word: 'silent' },
      { do: 'ask', word: 'done', times: 2 },
      { do: 'refund', share: 61 },
      { do: 'refund', share: null },
    ],
    [
      ...held,
      { do: 'capture', share: null, word: 'refused' },
      { do: 'cancel', word: 'silent' },
      { do: 'ask', word: 'done', times: 2 },
      { do: 'cancel', word: 'done' },
      { do: 'capture', share: null, word: 'done' },
    ],
    [
      ...held,
      { do: 'wait', minutes: held_min },
      { do: 'ask', word: 'done', times: 2 },
      { do: 'bank', says: 'holds', times: 1 },
    ],
  ] satisfies readonly HoldStep[][]
).map((steps): [History] => [{ mode: 'live', amount: 1_000n, steps: [steps, []] }]);

const compare = async (lived: LivedHold, model: HoldModel): Promise<void> => {
  const rows =
    await lived.texts(`select account || ' ' || sum(amount) as text from (select to_account as account, amount from posting where merchant_id = $1
      union all select from_account, -amount from posting where merchant_id = $1) as moved group by account`);
  const books = new Map(
    rows.map((row) => row.split(' ')).map(([account = '', sum = '']) => [account, BigInt(sum)]),
  );
  const of = (account: string): bigint => books.get(account) ?? 0n;
  assert.deepEqual(
    { merchant: of('merchant') + of('merchant_reserved'), acquirer: -of('acquirer_clearing') },
    moneyOf(model),
    'a hold books nothing, a capture what it took',
  );
  assert.equal(
    [...books.values()].reduce((sum, amount) => sum + amount, 0n),
    0n,
    'money is neither made nor lost',
  );
  const webhooks = await lived.texts(
    'select webhook_event as text from event where merchant_id = $1 and webhook_event is not null order by position',
  );
  assert.deepEqual(webhooks, model.webhooks);
};

test('any history of a hold, its captures, cancels, end and refunds goes as the tables say: one order has effect, and only what was captured is booked', async (t) => {
  const met = new Map<string, number>();
  const live = async ({ mode, amount, steps }: History): Promise<void> => {
    const key = await migrated.merchant(mode);
    const input = { amount, method: 'tpay', capture: 'manual' } as const;
    const made = granted(await recordPayment(migrated.database, noPolicies, key, { input }, start));
    const lived = new LivedHold(key, made.payment.id);
    let model = newHold(amount, mode === 'live');
    for (const taken of steps.flat()) {
      const text = `after ${JSON.stringify(taken)}`;
      const refusal = refusalOf(model, taken);
      assert.equal(await lived.take(taken, model), refusal, text);
      model = holdAfter(model, taken);
      const took = model.status === 'succeeded' || model.status === 'refunded';
      assert.deepEqual(
        await lived.seen(),
        {
          status: model.status,
          order: model.order,
          captured: took ? model.captured : 0n,
          amountRefunded: model.refunded,
        },
        text,
      );
      for (const kind of [model.status, `order ${model.order}`, `refusal ${refusal}`])
        met.set(kind, (met.get(kind) ?? 0) + 1);
      if (took && model.captured < model.amount) met.set('part', 1);
    }
    await compare(lived, model);
  };
  await fc.assert(fc.asyncProperty(history, live), {
    ...searching(t, size(40, 120)),
    examples: alwaysLived,
  });
  const kinds =
    'authorized, succeeded, cancelled, expired, failed, refunded, part, order capture, order cancel, order end, order give_up, refusal payment_not_authorized, refusal amount_exceeds_remainder, refusal capture_declined, refusal not_pending, refusal payment_not_succeeded';
  for (const kind of kinds.split(', '))
    assert.ok(met.has(kind), `no history met ${kind}: ${JSON.stringify([...met])}`);
  const differences = (await checkBooks(migrated.database)).filter(
    ({ check }) => check !== 'event_relayed',
  );
  assert.deepEqual(differences, []);
});
