import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import { freePort } from '../../subgraphs/kernel/database/embedded/free-port.ts';
import { eventually, makeMerchant, openReceiver, type Merchant } from '../support/merchant.ts';
import { spawnProcess, stopProcess, untilReady, type ServiceProcess } from '../support/service.ts';

/** How many payments, how many of them at once, and how many kills while they go on. */
const payments = 200;
const abreast = 8;
const kills = 20;
/** How long the service lives between two kills, at least and at most: long enough to get something half done. */
const life_ms = [300, 1_500] as const;

let dataDir: string;
let port: number;
let running: ServiceProcess;

const startAgain = async (): Promise<void> => {
  running = spawnProcess('all', port, { DATA_DIR: dataDir });
  await untilReady(running);
};

before(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'payments-crash-'));
  port = await freePort();
  await startAgain();
});

after(async () => {
  await stopProcess(running);
  rmSync(dataDir, { recursive: true, force: true });
});

const killPostmaster = (): void => {
  const pid = Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);
  process.kill(pid, 'SIGKILL');
};

/** Asks again until there is an answer: a client whose connection breaks does not know whether its call took effect. */
const insist = async <Answer>(call: () => Promise<Answer | null>): Promise<Answer> => {
  for (;;) {
    const answer = await call().catch(() => null);
    if (answer) return answer;
    await sleep(100);
  }
};

const card = { number: '4111 1111 1111 1111', expiry: '12/30', cvc: '123', holder: 'IVAN PETROV' };

/** Creates a payment under its own idempotency key and pays it on its page; gives its id. */
const buy = async (merchant: Merchant, index: number): Promise<string> => {
  const created = await insist(async () => {
    const answer = await merchant.call(
      'POST',
      '/payments',
      { amount: 1_000 + 100 * index, method: 'cards', order_id: `order-${index}` },
      { 'idempotency-key': `k-${index}` },
    );
    return answer.status === 201 || answer.status === 200 ? answer.body : null;
  });
  const { origin } = new URL(created.payment_url);
  await insist(async () => {
    const response = await fetch(`${created.payment_url}/pay`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin },
      body: JSON.stringify({ card }),
    });
    await response.arrayBuffer();
    // 409: an earlier call, whose answer was lost, has opened the session.
    return response.ok || response.status === 409 ? response.status : null;
  });
  return created.payment.id;
};

const killTwentyTimes = async (): Promise<number> => {
  let killed = 0;
  for (; killed < kills; killed++) {
    await sleep(randomInt(...life_ms));
    if (killed % 4 === 3) killPostmaster();
    await stopProcess(running, 'SIGKILL');
    await startAgain();
  }
  return killed;
};

test('two hundred payments survive twenty kills: none lost, none doubled, every webhook delivered, the books balance', async () => {
  const receiver = await openReceiver((index) => (index % 10 === 9 ? 500 : 200));
  const service = { rest: running.url, rests: [running.url], graph: running.url, processes: [running], stop: async () => {} };
  const merchant = await makeMerchant(service);
  await merchant.endpoint(receiver.url, ['payment_succeeded', 'payment_failed', 'payment_expired']);

  const killing = killTwentyTimes();
  const ids: string[] = [];
  const indices = Array.from({ length: payments }, (_, index) => index).values();
  const buying = Array.from({ length: abreast }, async () => {
    for (const index of indices) {
      ids.push(await buy(merchant, index));
      // Spread over the kills, so that each of them finds some half way.
      await sleep(randomInt(200, 1_500));
    }
  });
  await Promise.all(buying);
  assert.equal(await killing, kills);

  assert.equal(new Set(ids).size, payments, 'one payment per order');
  const find = async (id: string): Promise<any> => (await merchant.call('GET', `/payments/${id}`)).body;
  const settled = await Promise.all(
    ids.map((id) =>
      eventually(async () => ((found) => !['pending', 'processing'].includes(found.status) && found)(await find(id)), `the end of ${id}`, 60_000),
    ),
  );
  const succeeded = settled.filter(({ status }) => status === 'succeeded');
  // A kill between our move and the bank's call loses the card: the payment then fails, and no money has moved.
  const failed = settled.filter(({ status, metadata }) => status === 'failed' && metadata.bank_failure_code === 'simulator:unseen');
  assert.equal(
    succeeded.length + failed.length,
    payments,
    JSON.stringify(settled.filter((payment) => !succeeded.includes(payment) && !failed.includes(payment))),
  );

  const finals = new Map(settled.map(({ id, status }) => [id, `payment.${status}`]));
  await eventually(() => new Set(receiver.received.map(({ body }) => body.data.id)).size === payments, 'every webhook', 90_000);
  const bodies = Map.groupBy(receiver.received, ({ body }) => body.data.id);
  for (const [id, deliveries] of bodies) {
    assert.equal(new Set(deliveries.map(({ raw }) => raw)).size, 1, `every delivery of ${id} has the same id and bytes`);
    assert.equal(deliveries[0]?.body.event, finals.get(id));
  }

  const registry = new Set<string>();
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: any = (await merchant.call('GET', `/payments?limit=200${cursor ? `&cursor=${cursor}` : ''}`)).body;
    for (const { id } of page.items) registry.add(id);
    cursor = page.next_cursor;
  }
  assert.equal(registry.size, payments, 'no payment beside those that were asked for');

  const owed = succeeded.reduce((sum, { amount }) => sum + amount, 0);
  const { body: balance } = await merchant.call('GET', '/balance');
  assert.deepEqual([balance.balance, balance.available], [owed, owed]);
  const ledger = (await merchant.call('GET', '/ledger?limit=200')).body.items;
  assert.equal(
    ledger.reduce((sum: number, { amount }: { amount: number }) => sum + amount, 0),
    owed,
  );
  assert.equal(new Set(ledger.map((entry: any) => entry.payment_id)).size, succeeded.length, 'each booked once');
  await receiver.close();
});
