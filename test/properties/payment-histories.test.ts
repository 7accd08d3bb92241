import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { isRefused } from '../../subgraphs/kernel/rules/refusal.ts';
import { openBanks } from '../../subgraphs/kernel/banks/route.ts';
import { openSimulator } from '../../subgraphs/kernel/banks/simulator.ts';
import { readBalances, foldBalances } from '../../subgraphs/kernel/ledger/balance.ts';
import { applyBankAnswer } from '../../subgraphs/payments/apply-bank-answer.ts';
import { cancelPayment } from '../../subgraphs/payments/cancel-payment.ts';
import { createPayment } from '../../subgraphs/payments/create-payment.ts';
import type { Payment } from '../../subgraphs/payments/entities.ts';
import { expirePayments } from '../../subgraphs/payments/expire-payments.ts';
import { openSession } from '../../subgraphs/payments/open-session.ts';
import { findPayment } from '../../subgraphs/payments/store-payment.ts';
import { noPolicies } from '../../subgraphs/kernel/policies/policies.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const start = Temporal.Instant.from('2026-11-21T10:00:00Z');
const traits = { cardBrand: null, cardMask: null, cardHolder: null, phoneMask: null, payerBank: null };
const linkTtl_min = 60;
const sessionTtl_min = 20;

type Step = 'session' | 'approve' | 'decline' | 'silent' | 'cancel' | { readonly wait_min: number };
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<Step>('session', 'approve', 'decline', 'silent', 'cancel') },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 30 }).map((wait_min) => ({ wait_min })) },
);

/** The tiny model: what a payment is after a step, from the contract's table alone. */
interface Model {
  readonly status: string;
  readonly at_min: number;
  readonly session_min: number | null;
}

const modelAfter = (model: Model, taken: Step): Model => {
  if (typeof taken === 'object') {
    const at_min = model.at_min + taken.wait_min;
    const linkOver = model.status === 'pending' && at_min >= linkTtl_min;
    const sessionOver = model.status === 'processing' && model.session_min !== null && at_min >= model.session_min + sessionTtl_min;
    return { ...model, at_min, status: linkOver || sessionOver ? 'expired' : model.status };
  }
  const moves: Record<string, Partial<Record<string, string>>> = {
    pending: { session: 'processing', cancel: 'cancelled' },
    processing: { approve: 'succeeded', decline: 'failed' },
  };
  const status = moves[model.status]?.[taken] ?? model.status;
  return { ...model, status, session_min: model.status === 'pending' && status === 'processing' ? model.at_min : model.session_min };
};

test('any history of sessions, answers, repeats, cancels and time ends as the table says, and books exactly what succeeded', async () => {
  const { database } = migrated;
  const banks = openBanks(openSimulator(database), database.pool);
  let lived = 0;

  const history = async (amount: number, steps: readonly Step[]): Promise<void> => {
    const key = await migrated.merchant();
    // Ends in 06: the simulated bank never answers by itself, so that only the steps do.
    const created = await createPayment(database, noPolicies, key, { input: { amount: BigInt(amount) * 100n + 6n, method: 'sbp' } }, start);
    assert.ok(!isRefused(created));
    const id = { merchantId: key.merchantId, paymentId: created.payment.id };
    let model: Model = { status: 'pending', at_min: 0, session_min: null };
    const take = async (taken: Step, now: Temporal.Instant): Promise<void> => {
      if (typeof taken === 'object') return void (await expirePayments(database, banks, () => now));
      if (taken === 'session') return void (await openSession(database, banks, noPolicies, { key: id, card: null, pageUrl: 'https://pay.example/p', now }));
      if (taken === 'cancel') return void (await cancelPayment(database, key, id.paymentId, now));
      const answers = {
        approve: { kind: 'approved', reference: 'r', rrn: null, traits },
        decline: { kind: 'declined', failureCode: 'do_not_honor', bankCode: 'x' },
        silent: { kind: 'unknown' },
      } as const;
      // Twice: a bank repeats itself.
      for (let time = 0; time < 2; time += 1) await applyBankAnswer(database, id, 'bank', answers[taken], now);
    };
    for (const taken of steps) {
      model = modelAfter(model, taken);
      await take(taken, start.add({ minutes: model.at_min }));
      const found: Payment | undefined = (await findPayment(database.pool, id, start))?.payment;
      assert.equal(found?.status, model.status, `after ${JSON.stringify(taken)}`);
      lived += 1;
    }
    while ((await foldBalances(database.pool)) > 0);
    const [balance] = await readBalances(database.pool, key.merchantId, 'test', 'RUB');
    assert.equal(balance?.balance, model.status === 'succeeded' ? BigInt(amount) * 100n + 6n : 0n);
    const { rows } = await database.pool.query<{ webhook_event: string }>(
      'select webhook_event from event where merchant_id = $1 and webhook_event is not null',
      [key.merchantId],
    );
    const final = ['pending', 'processing'].includes(model.status) ? [] : [`payment.${model.status}`];
    assert.deepEqual(
      rows.map(({ webhook_event }) => webhook_event),
      final,
    );
  };

  await fc.assert(fc.asyncProperty(fc.integer({ min: 0, max: 1_000_000 }), fc.array(step, { minLength: 1, maxLength: 12 }), history), { numRuns: 120 });
  assert.ok(lived > 300, `lived only ${lived} steps`);
});
