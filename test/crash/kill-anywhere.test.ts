import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import { freePort } from '../support/free-port.ts';
import { seeded } from '../acquirer/faults.ts';
import { receiptOf } from '../support/receipts.ts';
import { makeMerchant, openReceiver, type Merchant } from '../support/merchant.ts';
import { spawnProcess, stopProcess, untilReady, type ServiceProcess } from '../support/service.ts';
import { compareBooks, compareReceipts, compareRecords, registryOf } from './books.ts';
import {
  captureOf,
  contradicted,
  expectedOf,
  fateOf,
  isAtRest,
  isHeld,
  isLost,
  isOver,
  methodOf,
  refundOf,
  type Fate,
} from './fates.ts';
import { eventually } from '../support/eventually.ts';
import { fastEnvironment, usualTimes } from '../support/fast-time.ts';
import { isLong, size } from '../support/size.ts';

/**
 * At least so many payments, each fate with a receipt and without; so many of them at once, and so
 * many kills while they go on.
 */
const payments_min = size(22, 120);
const atOnce = 8;
const kills = size(2, 20);
/** The moments of the kills follow from it, as far as the machine lets them. */
const seed = isLong ? randomInt(1_000_000) : 1;
/** Every so many kills the database is killed with the service. */
const databaseEvery = size(2, 4);
/**
 * How long the service lives between two kills, in percent of what its start took, at least and at
 * most: on a slow machine, too, long enough to get something half done.
 */
const life_percent = [10, 60] as const;

/** A webhook that was cut off waits for the end of its lease. */
const fast = fastEnvironment({ began_ms: Date.now(), times: usualTimes }, 'Temporal');

let dataDir: string;
let port: number;
let running: ServiceProcess;
let start_ms: number;

/** Starts the service, waits until it is ready, and gives how long that took in milliseconds. */
const startAgain = async (): Promise<number> => {
  const began_ms = performance.now();
  running = spawnProcess('all', port, { DATA_DIR: dataDir, ...fast });
  await untilReady(running);
  return performance.now() - began_ms;
};

before(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'payments-crash-'));
  port = await freePort();
  start_ms = await startAgain();
});

after(async () => {
  await stopProcess(running);
  rmSync(dataDir, { recursive: true, force: true });
});

const killPostmaster = (): void => {
  const pid = Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);
  process.kill(pid, 'SIGKILL');
};

let answers = 0;

/**
 * Asks again until there is an answer, through as many kills as it takes: a client whose connection
 * breaks does not know whether its call took effect.
 */
const insist = async <Answer>(call: () => Promise<Answer | null>): Promise<Answer> => {
  for (;;) {
    const answer = await call().catch(() => null);
    if (answer) {
      answers += 1;
      return answer;
    }
    await sleep(100);
  }
};

const card = { number: '4111 1111 1111 1111', expiry: '12/30', cvc: '123', holder: 'IVAN PETROV' };

/** What the buyer sees on the page. */
const pageOf = (url: string): Promise<any> =>
  insist(async () => ((answer) => (answer.ok ? answer.json() : null))(await fetch(`${url}/state`)));

/** Presses Pay until the page answers. */
const press = async (url: string, method: string): Promise<void> => {
  const { origin } = new URL(url);
  await insist(async () => {
    const response = await fetch(`${url}/pay`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin },
      body: JSON.stringify(method === 'cards' ? { card } : {}),
    });
    await response.arrayBuffer();
    // 409: an earlier call, whose answer was lost, has opened the session.
    return response.ok || response.status === 409 ? response.status : null;
  });
};

interface Sale {
  readonly id: string;
  readonly url: string;
  /** Whether it has a receipt. */
  readonly isReceipted: boolean;
}

/** What moves a part of a payment's money: with a receipt of its own where the payment has one. */
const partOf = ({ isReceipted }: Sale, amount: number): object => ({
  amount,
  ...(isReceipted ? { receipt: receiptOf(amount) } : {}),
});

/**
 * Creates a payment under its own idempotency key and pays it on its page; gives its id and its
 * page.
 */
const buy = async (merchant: Merchant, index: number): Promise<Sale> => {
  const method = methodOf(index);
  const amount = 1_000 + 100 * index;
  const isReceipted = index % 2 === 0;
  const created = await insist(async () => {
    const answer = await merchant.call(
      'POST',
      '/payments',
      {
        amount,
        ...(isReceipted ? { receipt: receiptOf(amount) } : {}),
        method,
        ...(isHeld(fateOf(index)) ? { capture: 'manual' } : {}),
        order_id: `order-${index}`,
        metadata: fateOf(index) === 'late success' ? contradicted : {},
      },
      { 'idempotency-key': `k-${index}` },
    );
    return answer.status === 201 || answer.status === 200 ? answer.body : null;
  });
  await press(created.payment_url, method);
  return { id: created.payment.id, url: created.payment_url, isReceipted };
};

/** Whether the page shows the card's form. The buyer types the card again where it was lost. */
const typesAgain = async (url: string): Promise<boolean> => {
  const { status, regions } = await pageOf(url);
  const isAsked = status === 'processing' && regions.panel.includes('card-number');
  if (isAsked) await press(url, 'cards');
  return isAsked;
};

/** Captures the payment's hold under an idempotency key, or cancels it, as its fate has it. */
const settleHold = async (merchant: Merchant, sale: Sale, fate: Fate): Promise<void> => {
  const { id } = sale;
  const amount = captureOf[fate];
  await insist(async () => {
    const { status } =
      amount === undefined
        ? await merchant.call('POST', `/payments/${id}/cancel`)
        : await merchant.call('POST', `/payments/${id}/capture`, partOf(sale, amount), {
            'idempotency-key': `capture-${id}`,
          });
    // 409: an earlier cancellation, whose answer was lost, took effect or is about to.
    return status === 200 || (amount === undefined && status === 409) || null;
  });
};

/**
 * Waits for the payment's end and orders its refund, when that is its fate, under an idempotency
 * key of its own.
 */
const settle = async (merchant: Merchant, sale: Sale, fate: Fate): Promise<void> => {
  const { id, url } = sale;
  const find = (): Promise<any> =>
    insist(async () =>
      ((answer) => (answer.status === 200 ? answer.body : null))(
        await merchant.call('GET', `/payments/${id}`),
      ),
    );
  const look = async (): Promise<any> => ((found) => isOver(found) && found)(await find());
  const payment = await eventually(
    async () => (await look()) || ((await typesAgain(url)) && false),
    `the end of ${id}`,
  );
  if (payment.status === 'authorized') await settleHold(merchant, sale, fate);
  const amount = refundOf[fate];
  if (payment.status !== 'succeeded' || amount === undefined) return;
  await insist(async () => {
    const { status } = await merchant.call('POST', `/payments/${id}/refund`, partOf(sale, amount), {
      'idempotency-key': `refund-${id}`,
    });
    return status === 201 || status === 200 || null;
  });
};

const killAll = async (): Promise<void> => {
  const random = seeded(seed);
  const [shortest, longest] = life_percent;
  for (let killed = 0; killed < kills; killed++) {
    // However busy the machine is, something continues between two kills.
    const earlier = answers;
    await eventually(() => answers > earlier, 'an answer between two kills');
    await sleep((start_ms * (shortest + (longest - shortest) * random())) / 100);
    if (killed % databaseEvery === databaseEvery - 1) killPostmaster();
    await stopProcess(running, 'SIGKILL');
    start_ms = await startAgain();
  }
};

interface Bought extends Pick<Sale, 'id' | 'isReceipted'> {
  readonly fate: Fate;
}

/** Buys and refunds until the kills are over. */
const buyAll = async (merchant: Merchant, killing: Promise<void>): Promise<readonly Bought[]> => {
  const bought: Bought[] = [];
  const random = seeded(seed + 1);
  const killed = new AbortController();
  const over = killing.finally(() => killed.abort());
  let begun = 0;
  const buying = Array.from({ length: atOnce }, async () => {
    while (begun < payments_min || !killed.signal.aborted) {
      const index = begun++;
      const fate = fateOf(index);
      const sale = await buy(merchant, index);
      bought.push({ ...sale, fate });
      await settle(merchant, sale, fate);
      // Spread over the kills, so that each of them finds some half way.
      await sleep(100 + 600 * random());
    }
  });
  await Promise.all([over, ...buying]);
  return bought;
};

test('payments and refunds survive kills at any moment: no sale lost, none doubled, every webhook delivered, the books balance', async (t) => {
  const receiver = await openReceiver((index) =>
    index % 10 === 9 && index < payments_min ? 500 : 200,
  );
  t.after(() => receiver.close());
  const merchant = await makeMerchant({ rest: running.url, graph: running.url });
  await merchant.endpoint(receiver.url, [
    'payment_authorized',
    'payment_cancelled',
    'payment_succeeded',
    'payment_failed',
    'payment_expired',
    'payment_refunded',
  ]);

  t.diagnostic(`the seed is ${seed}`);
  const bought = await buyAll(merchant, killAll());
  assert.equal(new Set(bought.map(({ id }) => id)).size, bought.length, 'one payment per order');

  const find = async (id: string): Promise<any> =>
    (await merchant.call('GET', `/payments/${id}`)).body;
  const settled = await Promise.all(
    bought.map(({ id, fate }) =>
      eventually(
        async () => ((found) => isAtRest(fate, found) && found)(await find(id)),
        `the end of ${id} (${fate})`,
      ),
    ),
  );
  assert.deepEqual(settled.filter(isLost), [], 'no sale was lost to a kill');
  const expected = new Map(
    bought.map(({ id, fate }, index) => [id, expectedOf(fate, settled[index])]),
  );
  for (const payment of settled) {
    const refunds = payment.refunds.map(({ status, amount }: any) => ` ${status} ${amount}`);
    assert.equal(
      `${payment.status}${refunds.join(',')}`,
      expected.get(payment.id)?.seen,
      JSON.stringify(payment),
    );
  }
  assert.equal(
    (await registryOf(merchant, '/payments')).length,
    bought.length,
    'no payment beside those that were asked for',
  );
  await compareBooks(merchant, settled);
  await compareReceipts(
    merchant,
    settled.filter((_, place) => bought[place]?.isReceipted),
  );

  const received = (id: string): string[] => {
    const events = receiver.received.flatMap(({ body }): string[] =>
      body.data.id === id ? [body.event] : [],
    );
    return [...new Set(events)].toSorted();
  };
  const isDelivered = (): boolean =>
    [...expected].every(([id, { webhooks }]) => received(id).length === webhooks.length);
  await eventually(isDelivered, 'every webhook');
  for (const [id, { webhooks }] of expected) assert.deepEqual(received(id), webhooks);
  for (const [id, deliveries] of Map.groupBy(receiver.received, ({ body }) => body.id)) {
    assert.equal(
      new Set(deliveries.map(({ raw }) => raw)).size,
      1,
      `every delivery of ${id} has the same bytes`,
    );
  }
  const events = [...expected.values()].flatMap(({ webhooks }) => webhooks).length;
  assert.equal(
    new Set(receiver.received.map(({ body }) => body.id)).size,
    events,
    'one event for each fact',
  );
  await stopProcess(running);
  const again = await compareRecords(dataDir, settled.flatMap((payment) => payment.refunds).length);
  t.diagnostic(`${again} of ${bought.length} orders were given again`);
});
