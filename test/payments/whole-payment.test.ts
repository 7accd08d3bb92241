/**
 * What a service asks of PostgreSQL over all its connections, its queues on PostgreSQL included:
 * while it has nothing to do, and for a payment. Counts, so that the machine's speed does not
 * matter. Then a link whose payments come to more than one amount keeps, and more than a bigint
 * holds: its sums would be in what everybody's payments come to.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { confirmAtBank, pay } from '../support/buyer.ts';
import { openPool, startTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { makeMerchant, openReceiver, type Merchant } from '../support/merchant.ts';
import { startService, type Service } from '../support/service.ts';
import { openStatementProxy, type StatementProxy } from '../support/statement-proxy.ts';

/**
 * What a whole payment may cost of PostgreSQL, begins and commits included, where nothing is
 * shared. Its own: its page and a read of it are 2 of them. The relay's: each of its 3 events by
 * itself. Of all others: its delivery is claimed, within a lock on its lane, and stored, which are 5;
 * each event and the position of the stream are sent to the other processes; two pages name the
 * seller.
 */
const most_each = { own: 8, relay: 3, others: 11 } as const;
type Side = keyof typeof most_each;
const sides = Object.keys(most_each) as Side[];
/**
 * What runs each second in addition. The relay looks again 25 ms after an event, where
 * no other came; others count totals, renew caches and balances.
 */
const beside_perSecond: Readonly<Record<Side, number>> = { own: 0, relay: 15, others: 30 };
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

/** The service looks once a second for what is due; its looks are counted instead of seconds. */
const look = 'sweeps.due';
const looksPerWindow = 5;
const statements_max_perLook = 20;

/** What is sent while the service looks a few times. */
const countWindow = async (): Promise<ReadonlyMap<string, number>> => {
  const earlier = new Map(proxy.counts);
  const since = (name: string): number => (proxy.counts.get(name) ?? 0) - (earlier.get(name) ?? 0);
  await eventually(() => since(look) >= looksPerWindow, 'looks for what is due');
  return new Map([...proxy.counts.keys()].map((name) => [name, since(name)] as const));
};

/** It comes to rest: what a start leaves to do, and the jobs of each minute, have an end. */
const comesToRest = async (): Promise<void> => {
  let last: ReadonlyMap<string, number> = new Map();
  const isAtRest = async (): Promise<boolean> => {
    last = await countWindow();
    const sum = last.values().reduce((total, count) => total + count, 0);
    return sum <= statements_max_perLook * looksPerWindow;
  };
  const shown = (): string =>
    [...last]
      .filter(([, count]) => count > 0)
      .toSorted(([, one], [, other]) => other - one)
      .map(([name, count]) => `${count} ${name}`)
      .join('\n');
  await eventually(isAtRest, () => `at rest; ${looksPerWindow} looks with\n${shown()}`);
};

test(
  'a service that has nothing to do sends PostgreSQL at most 20 statements a second',
  comesToRest,
);

test('it sends no more while a thousand test clocks run', async (t) => {
  const pool = openPool(database.url, 1);
  t.after(() => pool.end());
  await pool.query(
    `insert into test_clock (merchant_id, shop_id, clock_at, set_at, frozen, target_at, created_at)
     select gen_random_uuid(), gen_random_uuid(), '2027-03-01T12:00:00Z', now(), false, null, now()
     from generate_series(1, 1000)`,
  );
  // All clocks have been looked at.
  await countWindow();
  await comesToRest();
  await pool.query('delete from test_clock');
});

/** Waits for the webhook; others go on at once, as a merchant's server would. */
const delivered = (paymentId: string): Promise<unknown> =>
  eventually(
    () => receiver.received.some(({ body }) => body.data.id === paymentId),
    'the webhook of the payment',
  );

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

/** What a step causes itself, and not who works beside it. */
const ofSteps =
  /^(?:payments\/|acquirers\/simulator\/|(?:payment|simulator|idempotency|simulator_callback|refund)\.)/;

const sideOf = (name: string): Side => {
  if (ofSteps.test(name)) return 'own';
  return /^(?:relay\.|platform\/events\/number-)/.test(name) ? 'relay' : 'others';
};

/** How many statements of a side were sent since. */
const sentBy = (side: Side, earlier: ReadonlyMap<string, number>): number =>
  sum(since(earlier).filter(([name]) => sideOf(name) === side));

/** How many more a side sent than it may, for so many payments in so many seconds. */
const beyond = (side: Side, earlier: ReadonlyMap<string, number>, began_ms: number, payments = 1) =>
  sentBy(side, earlier) -
  most_each[side] * payments -
  (beside_perSecond[side] * (performance.now() - began_ms)) / 1_000;

test('a whole payment takes few statements, and so does each of its steps', async (context) => {
  await livePayment();
  const ofStep = new Map<Step, number[]>();
  const ofSide = new Map<Side, number[]>();
  for (let payment = 0; payment < 10; payment += 1) {
    const [all, began_ms] = [new Map(proxy.counts), performance.now()];
    let earlier = all;
    await livePayment((step) => {
      ofStep.set(step, [...(ofStep.get(step) ?? []), sentBy('own', earlier)]);
      earlier = new Map(proxy.counts);
    });
    for (const side of sides)
      ofSide.set(side, [...(ofSide.get(side) ?? []), beyond(side, all, began_ms)]);
  }
  for (const [step, sent] of ofStep) context.diagnostic(`${step}: ${sent.join()}`);
  for (const [side, over] of ofSide)
    context.diagnostic(`${side}: ${over.map((each) => each.toFixed(1)).join()} over its limit`);
  // What else is done now and then, sweeps and checks, falls into some payments and not into all.
  for (const [step, most] of Object.entries(steps_max)) {
    const least = Math.min(...(ofStep.get(step as Step) ?? []));
    assert.ok(least >= 1 && least <= most, `${step}: ${least} statements`);
  }
  for (const side of sides) {
    const least = Math.min(...(ofSide.get(side) ?? []));
    assert.ok(least <= 0, `${side}: ${least} statements too many`);
  }
});

test('payments of several buyers at once take no more statements each', async () => {
  const [all, began_ms] = [new Map(proxy.counts), performance.now()];
  const buyer = async (): Promise<void> => {
    for (let payment = 0; payment < 5; payment += 1) await livePayment();
  };
  await Promise.all(Array.from({ length: 4 }, buyer));
  for (const side of ['own', 'relay'] as const) {
    const over = beyond(side, all, began_ms, 20);
    assert.ok(over <= 0, `${side}: ${over} statements too many`);
  }
});

/** The largest amount that ends in 00: the simulated bank approves it. */
const amount = 9_007_199_254_740_900n;

const until = (shop: Merchant, id: string, status: string) =>
  eventually(async () => {
    const { body } = await shop.call('GET', `/payments/${id}`);
    return body.status === status;
  }, `the payment is ${status}`);

/** A buyer pays; the merchant gives the money back, so that its balance has room for the next. */
const payAndRefund = async (shop: Merchant, url: string): Promise<void> => {
  const response = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: '',
  });
  await pay(new URL(response.headers.get('location') ?? '', url).href);
  const { items } = (await shop.call('GET', '/payments')).body;
  const { id } = items[0];
  await until(shop, id, 'succeeded');
  assert.equal((await shop.call('POST', `/payments/${id}/refund`, {})).status, 201);
  await until(shop, id, 'refunded');
};

/** What REST answers, as it is written: a reader's numbers would lose digits. */
const written = async (shop: Merchant, path: string): Promise<string> => {
  const headers = { authorization: `Bearer ${shop.key}` };
  const response = await fetch(`${service.rest}/v1/public${path}`, { headers });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return text;
};

test('a link is read, listed and notified of to the last digit, and its payments succeed', async (t) => {
  const pool = openPool(database.url, 1);
  t.after(() => pool.end());
  const shop = await makeMerchant(service);
  await shop.endpoint(receiver.url, ['link_paid']);
  const made = await shop.call('POST', '/links', {
    amount: Number(amount),
    uses: null,
    method: 'sbp',
  });
  const { id, url } = made.body.link;
  const isSum = async (count: number, sum: bigint): Promise<void> => {
    const shown = `"payments_count":${count},"amount_paid":${sum},`;
    for (const path of [`/links/${id}`, '/links'])
      assert.ok((await written(shop, path)).includes(shown), await written(shop, path));
    await receiver.until(({ raw }) => raw.includes(shown));
  };
  // As if 1,023 buyers had paid.
  await pool.query(
    'update payment_link set payments_count = 1023, amount_paid = $2 where id = $1',
    [id, (amount * 1_023n).toString()],
  );
  await payAndRefund(shop, url);
  await isSum(1_024, amount * 1_024n);
  await payAndRefund(shop, url);
  await isSum(1_025, amount * 1_025n);
  const ended = await shop.call('POST', `/links/${id}/deactivate`);
  assert.deepEqual([ended.status, ended.body.status], [200, 'deactivated']);
});
