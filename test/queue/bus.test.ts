/** The bus carries hints to every process, on both stores alike. */
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, test, type TestContext } from 'node:test';
import { readMessage } from '../../subgraphs/platform/bus/bus.ts';
import { openBus, openJoin, openParts } from '../../subgraphs/platform/queue/bus.ts';
import type { StreamedEvent } from '../../subgraphs/rules/event.ts';
import type { StreamStretch } from '../../subgraphs/platform/bus/bus.ts';
import { eventually, patience_ms } from '../support/eventually.ts';
import {
  assertOutages,
  mortalStoreKinds,
  openTestLog,
  storeKinds,
  type Stores,
  type StoreUrls,
} from './stores.ts';

const event = (
  sequence: number,
  payload: Readonly<Record<string, unknown>> = { status: 'succeeded' },
): StreamedEvent => ({
  sequence: String(sequence),
  kind: 'payment.status_changed',
  merchantId: 'm1',
  shopId: 's1',
  mode: 'live',
  subjectId: 'p1',
  at: '2026-01-01T00:00:00.000Z',
  payload,
});

type OpenBus = Awaited<ReturnType<typeof openBus>>;

const open = async (t: TestContext, urls: StoreUrls, log = openTestLog().log): Promise<OpenBus> => {
  const bus = await openBus({ ...urls, log });
  t.after(() => bus.close());
  return bus;
};

const startProcess = async (
  t: TestContext,
  urls: StoreUrls,
): Promise<{ readonly child: ChildProcess; readonly received: string[] }> => {
  const child = fork(new URL('./bus-process.ts', import.meta.url), [
    urls.databaseUrl,
    urls.redisUrl ?? '-',
  ]);
  t.after(() => child.kill('SIGKILL'));
  await once(child, 'message');
  const received: string[] = [];
  child.on('message', (stretch) =>
    received.push(...sequencesOf(readMessage('events', JSON.stringify(stretch)))),
  );
  return { child, received };
};

const sequencesOf = ({ events }: StreamStretch): string[] => events.map(({ sequence }) => sequence);

const stretch = (...events: readonly StreamedEvent[]): StreamStretch => ({
  behind: '0',
  last: events.at(-1)?.sequence ?? '0',
  events,
});

for (const kind of storeKinds) {
  describe(`the bus on ${kind.name}`, { skip: kind.skip }, () => {
    let stores: Stores;
    before(async () => {
      stores = await kind.open();
    });
    after(() => stores.stop());

    test('every process receives every message once and in order, its own too', async (t) => {
      const urls = await stores.fresh();
      const bus = await open(t, urls);
      const [one, two] = await Promise.all([startProcess(t, urls), startProcess(t, urls)]);
      const received: string[] = [];
      bus.subscribe('events', (message) => received.push(...sequencesOf(message)));
      const expected = Array.from({ length: 600 }, (_, sequence) => String(sequence));
      await Promise.all(
        expected.map((sequence) => bus.publish('events', stretch(event(Number(sequence))))),
      );
      // A process receives its own at once: what the other sent comes first only if it is here.
      await eventually(() => one.received.length >= expected.length, 'one has received all');
      one.child.send(stretch(event(600)));
      await eventually(() => received.includes('600'), 'it is here, too');
      await bus.publish('events', stretch(event(601)));
      expected.push('600', '601');
      const lists = [received, one.received, two.received];
      await eventually(() => lists.every((list) => list.includes('601')), 'all have received all');
      for (const list of lists) assert.deepEqual(list, expected);
    });

    test('a process that closes the bus ends by itself', async (t) => {
      const { child } = await startProcess(t, await stores.fresh());
      child.disconnect();
      const [code] = await once(child, 'exit', { signal: AbortSignal.timeout(patience_ms) });
      assert.equal(code, 0);
    });

    test('events of any number and size arrive whole', async (t) => {
      const bus = await open(t, await stores.fresh());
      const sent = stretch(
        ...Array.from({ length: 500 }, (_, sequence) =>
          event(sequence, { text: 'Оплата заказа №42 "Кофе" 🫘'.repeat(3) }),
        ),
        event(500, { text: '🫘x'.repeat(20_000) }),
      );
      const received = Promise.withResolvers<StreamStretch>();
      bus.subscribe('events', received.resolve);
      await bus.publish('events', sent);
      assert.deepEqual(await received.promise, sent);
    });

    test('topics are received apart, and a listener receives nothing after it has left', async (t) => {
      const bus = await open(t, await stores.fresh());
      const received: string[] = [];
      const leave = bus.subscribe('streams', ({ keyId }) => received.push(keyId));
      bus.subscribe('outbox', (message) => received.push(String(message)));
      await bus.publish('outbox', null);
      await bus.publish('streams', { keyId: 'm1', streamId: 's1' });
      await eventually(() => received.length === 2, 'both were received');
      assert.deepEqual(received, ['null', 'm1']);
      leave();
      await bus.publish('streams', { keyId: 'm2', streamId: 's1' });
      await bus.publish('outbox', null);
      await eventually(() => received.length > 2, 'what came last');
      assert.deepEqual(received, ['null', 'm1', 'null']);
    });

    test('streams arrive in the same order everywhere, their own among the others', async (t) => {
      const urls = await stores.fresh();
      const buses = await Promise.all([open(t, urls), open(t, urls)]);
      const received = buses.map((bus) => {
        const ids: string[] = [];
        bus.subscribe('streams', ({ streamId }) => ids.push(streamId));
        return ids;
      });
      for (let turn = 0; turn < 20; turn += 1)
        await Promise.all(
          buses.map((bus, place) =>
            bus.publish('streams', { keyId: 'k', streamId: `${turn} ${place}` }),
          ),
        );
      await eventually(() => received.every((ids) => ids.length === 40), 'all have received all');
      assert.deepEqual(received[0], received[1]);
    });

    test('what must be forgotten is forgotten in this process before publish fulfils, and in every process later', async (t) => {
      const urls = await stores.fresh();
      const [here, there] = await Promise.all([open(t, urls), open(t, urls)]);
      const received: string[] = [];
      here.subscribe('keys', ({ merchantId }) => received.push(`here ${merchantId}`));
      there.subscribe('keys', ({ merchantId }) => received.push(`there ${merchantId}`));
      const published = here.publish('keys', { merchantId: 'm1' });
      assert.deepEqual(received, ['here m1']);
      await published;
      await eventually(() => received.includes('there m1'), 'the other process has received it');
    });

    test('a listener that fails hinders no other, and is logged', async (t) => {
      const { log, answered } = openTestLog();
      const bus = await open(t, await stores.fresh(), log);
      const received: string[] = [];
      bus.subscribe('streams', () => {
        throw new Error('no');
      });
      bus.subscribe('streams', async () => Promise.reject(new Error('later')));
      bus.subscribe('streams', ({ keyId }) => received.push(keyId));
      await bus.publish('streams', { keyId: 'm1', streamId: 's1' });
      await bus.publish('streams', { keyId: 'm2', streamId: 's1' });
      await eventually(() => received.length === 2, 'both were received');
      assert.equal(answered().filter((line) => line === 'a listener of the bus failed').length, 4);
    });
  });
}

// Each waits for its server most of the time.
describe('a bus whose server was killed', { concurrency: 3 }, () => {
  for (const kind of mortalStoreKinds) {
    test(
      `the bus on ${kind.name} receives again by itself after its server was killed, and logs it once`,
      { skip: kind.skip },
      async (t) => {
        const store = await kind.open();
        const { log, answered } = openTestLog();
        const bus = await openBus({ ...store, log });
        t.after(() => bus.close().finally(() => store.stop()));
        const received: string[] = [];
        bus.subscribe('streams', ({ keyId }) => received.push(keyId));
        await bus.publish('streams', { keyId: 'before', streamId: 's1' });
        await eventually(() => received.length === 1, 'it was received');
        await store.kill();
        await eventually(() => answered().length === 1, 'it is known to be lost');
        for (let wakes = 0; wakes < 50; wakes += 1)
          await bus.publish('streams', { keyId: 'dropped', streamId: 's1' });
        await store.revive();
        // A cluster that comes back in parts may have been lost again by now.
        await eventually(() => answered().length >= 2, 'it is back');
        await eventually(async () => {
          await bus.publish('streams', { keyId: 'after', streamId: 's1' });
          return received.includes('after');
        }, 'it receives again');
        await eventually(() => answered().at(-1) === 'the bus is back', 'it is back for good');
        assertOutages(answered(), 'bus');
      },
    );
  }
});

describe('messages of the bus', () => {
  test('are checked when they come in', () => {
    const good = JSON.stringify(stretch(event(1)));
    assert.deepEqual(readMessage('events', good), stretch(event(1)));
    for (const bad of [
      '{',
      '{}',
      '[1]',
      good.replace('"behind":"0"', '"behind":0'),
      good.replace('"last":"1"', '"last":"x"'),
      good.replace(/\[.*\]/, '{}'),
      good.replace('"live"', '"real"'),
      good.replace('"1"', '"first"'),
      good.replace('"m1"', '""'),
    ])
      assert.throws(() => readMessage('events', bad), Error, bad);
    assert.throws(() => readMessage('keys', '{"merchantId":7}'));
  });

  test('may hold events of a kind that this version does not know, and those are left out', () => {
    const unknown = { ...event(1), kind: 'payment.dreamt' };
    assert.deepEqual(
      readMessage(
        'events',
        JSON.stringify({ behind: '0', last: '2', events: [unknown, event(2)] }),
      ),
      stretch(event(2)),
    );
  });

  test('are cut into payloads that PostgreSQL takes and put together again', () => {
    const [partsOf, text] = [openParts(), 'x🫘ж'.repeat(9_001)];
    const payloads = partsOf(text);
    assert.ok(
      payloads.length > 3 && payloads.every((payload) => Buffer.byteLength(payload) < 8_000),
    );
    assert.equal(new Set([...payloads, ...partsOf(text)]).size, payloads.length * 2);
    const join = openJoin();
    assert.deepEqual(payloads.map(join), [...payloads.slice(1).map(() => null), text]);
    assert.equal(join(partsOf('short')[0] ?? ''), 'short');
    assert.equal(join('nonsense'), null);
  });
});
