import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { confirmAtBank, pay } from '../support/buyer.ts';
import { startTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeMerchant, openReceiver, type Merchant } from '../support/merchant.ts';
import { startService, type Service } from '../support/service.ts';
import { openStatementProxy, type StatementProxy } from '../support/statement-proxy.ts';

/**
 * What a whole payment may cost of PostgreSQL, begins and commits included, where nothing is
 * shared. Its own: its page and a read of it are 2 of them. The relay's: each of its 3 events by
 * itself. Of all others: its delivery is stored, and a lane is woken.
 */
const most_each = { own: 8, relay: 3, others: 2 } as const;
type Side = keyof typeof most_each;
/**
 * What comes beside it each second, whoever pays. The relay looks again 25 ms after an event, where
 * no other came; others count totals, renew caches and balances.
 */
const beside_perSecond: Readonly<Record<Side, number>> = { own: 0, relay: 15, others: 20 };
/** The same by step, of what the step alone causes. */
const steps_max = { create: 1, read: 1, page: 1, pay: 3, approval: 2 } as const;
type Step = keyof typeof steps_max;

let database: TestDatabase;
let proxy: StatementProxy;
let service: Service;
let merchant: Merchant;
let receiver: Awaited<ReturnType<typeof openReceiver>>;
before(async () => {
  database = await startTestDatabase({ migrated: true });
  proxy = await openStatementProxy(database.url);
  service = await startService('one', {
    DATABASE_URL: proxy.url,
    SECRET_KEY: randomBytes(32).toString('base64'),
    WEBHOOK_PRIVATE_TARGETS: 'allow',
  });
  merchant = await makeMerchant(service);
  receiver = await openReceiver();
  await merchant.endpoint(receiver.url);
});
after(async () => {
  await receiver?.close();
  await service?.stop();
  proxy?.close();
  await database?.stop();
});

const lookEach_ms = 2;

/** Waits for the webhook; others go on at once, as a merchant's server would. */
const delivered = async (paymentId: string): Promise<void> => {
  const deadline = performance.now() + 60_000;
  while (!receiver.received.some(({ body }) => body.data.id === paymentId)) {
    assert.ok(performance.now() < deadline, 'the webhook did not come');
    await sleep(lookEach_ms);
  }
};

/** One payment, step by step; `done` is called after each. */
const livePayment = async (done: (step: Step) => Promise<void> | void = () => {}) => {
  const { body } = await merchant.call('POST', '/payments', { amount: 10_000, method: 'sbp' });
  const { payment, payment_url: page } = body;
  await done('create');
  assert.equal((await merchant.call('GET', `/payments/${payment.id}`)).status, 200);
  await done('read');
  const shown = await fetch(page);
  assert.equal(shown.status, 200, await shown.text());
  await done('page');
  await pay(page);
  await done('pay');
  await confirmAtBank(page);
  await done('approval');
  await delivered(payment.id);
};

/** What was sent since, the most frequent first. */
const since = (earlier: ReadonlyMap<string, number>): readonly (readonly [string, number])[] =>
  [...proxy.counts]
    .flatMap(([name, count]) => {
      const more = count - (earlier.get(name) ?? 0);
      return more > 0 ? [[name, more] as const] : [];
    })
    .toSorted(([, a], [, b]) => b - a);
const sum = (counts: readonly (readonly [string, number])[]): number =>
  counts.reduce((total, [, count]) => total + count, 0);

/** What the service sends by itself, each second, by name. */
const idleRates = async (): Promise<ReadonlyMap<string, number>> => {
  const [seconds, earlier] = [3, new Map(proxy.counts)];
  await sleep(seconds * 1_000);
  return new Map(since(earlier).map(([name, count]) => [name, count / seconds]));
};

for (const buyers of [1, 4])
  test(`a whole payment with ${buyers} ${buyers === 1 ? 'buyer' : 'buyers'} at once takes few statements`, (context) =>
    countStatements(context, buyers));

const countStatements = async (context: TestContext, buyers: number): Promise<void> => {
  const payments = 15 * buyers;
  await livePayment();
  const idle = await idleRates();
  const earlier = new Map(proxy.counts);
  const began = performance.now();
  let left = payments;
  const buyer = async (): Promise<void> => {
    while (left-- > 0) await livePayment();
  };
  await Promise.all(Array.from({ length: buyers }, buyer));
  const seconds = (performance.now() - began) / 1_000;
  const sent = since(earlier);
  for (const [name, count] of sent) context.diagnostic(`${(count / payments).toFixed(2)} ${name}`);
  // On a busy machine more seconds go by, and with them more of what comes each second anyway.
  const caused = sent.map(
    ([name, count]) => [name, Math.max(0, count - (idle.get(name) ?? 0) * seconds)] as const,
  );
  context.diagnostic(
    `${(sum(caused) / payments).toFixed(1)} statements each (${(sum(sent) / payments).toFixed(1)} with the idle ones), in ${seconds.toFixed(1)} s`,
  );
  const bySide = Map.groupBy(caused, ([name]) => sideOf(name));
  for (const side of Object.keys(most_each) as Side[]) {
    const each = sum(bySide.get(side) ?? []) / payments;
    const limit = most_each[side] + (beside_perSecond[side] * seconds) / payments;
    assert.ok(each > 0 && each <= limit, `${side}: ${each} statements, of ${limit.toFixed(1)}`);
  }
};

/** What a step causes itself, and not who works beside it. */
const ofSteps = /^(?:payment|simulator|idempotency|simulator_callback|refund)\./;

const sideOf = (name: string): Side => {
  if (ofSteps.test(name)) return 'own';
  return name.startsWith('relay.') ? 'relay' : 'others';
};

test('each step of a payment takes few statements', async (context) => {
  for (const step of Object.keys(steps_max) as Step[]) assert.ok(step in steps_max);
  const taken = new Map<Step, readonly (readonly [string, number])[]>();
  await sleep(100);
  let earlier = new Map(proxy.counts);
  await livePayment((step) => {
    taken.set(
      step,
      since(earlier).filter(([name]) => ofSteps.test(name)),
    );
    earlier = new Map(proxy.counts);
  });
  for (const [step, most] of Object.entries(steps_max)) {
    const sent = taken.get(step as Step) ?? [];
    context.diagnostic(`${step}: ${JSON.stringify(sent)}`);
    assert.ok(sum(sent) >= 1 && sum(sent) <= most, `${step}: ${JSON.stringify(sent)}`);
  }
});
