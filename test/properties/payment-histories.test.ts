import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { foldBalances } from '../../subgraphs/ledger/fold.ts';
import { checkBooks } from '../support/check-books.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { size } from '../support/size.ts';
import { searching } from '../fuzz/cases.ts';
import { LivedPayment } from './lived-payment.ts';
import {
  askedOf,
  balanceOf,
  modelAfter,
  newModel,
  refundedOf,
  refusalOf,
  type Model,
  type Answered,
  type Step,
} from './payment-model.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const answered = fc.constantFrom<Answered>('approve', 'decline', 'silent', 'pending');
const times = fc.integer({ min: 1, max: 3 });
const few = fc.integer({ min: 0, max: 3 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.constant<Step>({ do: 'session' }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'cancel' }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait'), minutes: fc.integer({ min: 1, max: 30 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('bank'),
      answered: fc.constantFrom<Answered | 'unseen'>(
        'approve',
        'approve',
        'decline',
        'silent',
        'pending',
        'unseen',
      ),
      times,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('refund'),
      share: fc.option(fc.integer({ min: 0, max: 101 }), { freq: 1 }),
      answered,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('answer'), of: few, answered, times }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('replay'), of: few }) },
);
const session: Step = { do: 'session' };
/**
 * Most histories begin where much can still happen: paid, or ended in one of the ways after which
 * money comes too late.
 */
const beginning = fc.constantFrom<readonly Step[]>(
  [],
  [session, { do: 'bank', answered: 'approve', times: 1 }],
  [session, { do: 'bank', answered: 'decline', times: 2 }],
  [session, { do: 'wait', minutes: 20 }],
  [{ do: 'cancel' }],
);
interface History {
  mode: 'test' | 'live';
  amount: bigint;
  steps: [readonly Step[], readonly Step[]];
}
const history: fc.Arbitrary<History> = fc.record({
  mode: fc.constantFrom('test', 'live'),
  amount: fc.bigInt({ min: 1n, max: 9_007_199_254_740_991n }),
  steps: fc.tuple(beginning, fc.array(step, { minLength: 1, maxLength: 14 })),
});

const paid: readonly Step[] = [session, { do: 'bank', answered: 'approve', times: 2 }];
/** Lived first: what happens in them is met, whatever the others are. */
const alwaysLived = (
  [
    [{ do: 'cancel' }],
    [session, { do: 'bank', answered: 'decline', times: 1 }],
    [session, { do: 'wait', minutes: 20 }, { do: 'bank', answered: 'approve', times: 2 }],
    [...paid, { do: 'refund', share: 60, answered: 'decline' }],
    [...paid, { do: 'refund', share: null, answered: 'approve' }],
  ] satisfies readonly Step[][]
).map((steps): [History] => [{ mode: 'live', amount: 1_000n, steps: [steps, []] }]);

const take = async (lived: LivedPayment, before: Model, taken: Step, now: Model): Promise<void> => {
  switch (taken.do) {
    case 'session':
      return lived.session();
    case 'cancel':
      return lived.cancel();
    case 'wait':
      return lived.waitUntil(now.at_min);
    case 'bank':
      return lived.bankAnswers(taken.answered, taken.times);
    case 'refund':
      return assert.equal(
        await lived.refund(askedOf(before, taken.share), taken.answered),
        refusalOf(before, taken.share),
      );
    case 'answer':
      return lived.answer(taken.of, taken.answered, taken.times);
    case 'replay': {
      const written = await lived.writings();
      await lived.replay(taken.of);
      return assert.equal(await lived.writings(), written, 'a replay writes nothing');
    }
  }
};

const compareStates = async (lived: LivedPayment, model: Model, taken: Step): Promise<void> => {
  const [payment, refunds] = await Promise.all([lived.payment(), lived.refunds()]);
  const seen = {
    status: payment.status,
    amountRefunded: payment.amountRefunded,
    late: payment.metadata['late_success'] === 'true',
  };
  assert.deepEqual(
    seen,
    { status: model.status, amountRefunded: refundedOf(model), late: model.late },
    `after ${JSON.stringify(taken)}`,
  );
  assert.deepEqual(
    refunds.map(({ amount, status }) => ({ amount, status })),
    model.refunds,
    `after ${JSON.stringify(taken)}`,
  );
};

const compareMoney = async (lived: LivedPayment, model: Model): Promise<void> => {
  const before = await lived.balance();
  while ((await foldBalances(migrated.database.pool)) > 0);
  assert.deepEqual(await lived.balance(), before, 'a fold changes no balance');
  assert.deepEqual(before, balanceOf(model));
  const books = await lived.books();
  const of = (account: string): bigint => books.get(account) ?? 0n;
  assert.equal(
    [...books.values()].reduce((sum, amount) => sum + amount, 0n),
    0n,
    'money is neither made nor lost',
  );
  assert.deepEqual(
    { balance: of('merchant') + of('merchant_reserved'), available: of('merchant') },
    before,
    'every balance equals its postings',
  );
  const took = model.status === 'succeeded' || model.status === 'refunded' || model.late;
  assert.equal(
    -of('acquirer_clearing'),
    took ? model.amount - refundedOf(model) : 0n,
    'the acquirer owes what came in less what it gave back',
  );
  assert.deepEqual(await lived.webhooks(), model.webhooks);
  assert.deepEqual((await lived.alerts()).toSorted(), [...model.alerts].toSorted());
};

test('any history of a payment and its refunds ends as the contract’s tables say, money is neither made nor lost, and what the balance was can be told afterwards', async (t) => {
  const met = new Map<string, number>();
  const live = async ({ mode, amount, steps }: History): Promise<void> => {
    const lived = await LivedPayment.create(migrated, await migrated.merchant(mode), amount);
    // The platform's rate of sbp is 0.70 %, rounded half up; nothing is withheld from test
    // payments.
    let model = newModel(amount, mode === 'live' ? (amount * 70n + 5_000n) / 10_000n : 0n);
    for (const taken of steps.flat()) {
      const before = model;
      model = modelAfter(before, taken);
      await take(lived, before, taken, model);
      await compareStates(lived, model, taken);
      await lived.remember();
    }
    await compareMoney(lived, model);
    await lived.provePast();
    for (const kind of [
      model.status,
      ...(model.late ? ['late'] : []),
      ...model.refunds.map(({ status }) => `refund ${status}`),
    ]) {
      met.set(kind, (met.get(kind) ?? 0) + 1);
    }
  };
  await fc.assert(fc.asyncProperty(history, live), {
    ...searching(t, size(60, 200)),
    examples: alwaysLived,
  });
  for (const kind of [
    'succeeded',
    'failed',
    'expired',
    'cancelled',
    'refunded',
    'late',
    'refund pending',
    'refund succeeded',
    'refund failed',
  ]) {
    assert.ok((met.get(kind) ?? 0) > 0, `no history met ${kind}: ${JSON.stringify([...met])}`);
  }
  // No relay runs here: what is in the outbox stays there.
  const differences = (await checkBooks(migrated.database)).filter(
    ({ check }) => check !== 'event_relayed',
  );
  assert.deepEqual(differences, []);
});
