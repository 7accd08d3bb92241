import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { eventually } from '../support/eventually.ts';
import {
  openLiveEvents,
  storedEvents,
  type DeliveredEvent,
  type LiveEvents,
  type LiveFilter,
} from '../../gateway/live/events.ts';
import { liveKinds } from '../../subgraphs/rules/event.ts';
import { openSmallGraph, silent, Fixture } from './small-graph.ts';

const opened: LiveEvents[] = [];
after(() => {
  for (const live of opened) live.close();
});

const open = async (
  limits: { readonly recentEvents?: number; readonly readerBuffer?: number } = {},
) => {
  const fixture = new Fixture();
  const supergraph = await openSmallGraph(fixture);
  const live = openLiveEvents({
    bus: fixture.bus,
    readEventsAfter: storedEvents(supergraph),
    log: silent,
    ...limits,
  });
  opened.push(live);
  return { fixture, live };
};

const everything: LiveFilter = { audience: {}, kinds: new Set(liveKinds) };

type Reading = ReturnType<LiveEvents['read']>;

const take = async (reading: Reading, count: number): Promise<DeliveredEvent[]> => {
  const received: DeliveredEvent[] = [];
  while (received.length < count) {
    const { done, value } = await reading.next();
    if (done) break;
    received.push(value);
  }
  return received;
};

const sequences = (received: readonly DeliveredEvent[]): string[] =>
  received.map(({ event }) => event.sequence);

/** Makes an event, which must be the next that comes: nothing is before it. */
const comesNext = async (fixture: Fixture, reading: Reading): Promise<void> => {
  const { sequence } = await fixture.happen();
  assert.deepEqual(sequences(await take(reading, 1)), [sequence]);
};

/** Does something until what is waited for has come: the source ignores it while it is busy. */
const againAndAgain = async (
  awaited: Promise<unknown>,
  act: () => Promise<unknown>,
): Promise<void> => {
  let isThere = false;
  const note = (): void => void (isThere = true);
  awaited.then(note, note);
  await eventually(async () => {
    await act();
    return isThere;
  }, 'the next events');
};

describe('the live events', () => {
  test('come in order from the moment of reading, and only once when the bus repeats itself', async () => {
    const { fixture, live } = await open();
    await fixture.happen();
    const reading = live.read(everything);
    const second = await fixture.happen();
    await fixture.notify(second);
    await fixture.happen();
    assert.deepEqual(sequences(await take(reading, 2)), ['20', '30']);
    await comesNext(fixture, reading);
  });

  test('of a shop are those of its merchant, shop and mode', async () => {
    const { fixture, live } = await open();
    const reading = live.read({
      ...everything,
      audience: { merchantId: 'm1', shopId: 's1', mode: 'test' },
    });
    await fixture.happen({ merchantId: 'm2', shopId: 's3' });
    await fixture.happen({ shopId: 's2' });
    await fixture.happen({ mode: 'live' });
    await fixture.happen();
    assert.deepEqual(sequences(await take(reading, 1)), ['40']);
  });

  test('of a buyer are those of the payment, and of a merchant those of all its shops', async () => {
    const { fixture, live } = await open();
    const buyer = live.read({
      ...everything,
      audience: { merchantId: 'm1', subjectId: 'payment-x' },
    });
    const merchant = live.read({ ...everything, audience: { merchantId: 'm1' } });
    await fixture.happen({ merchantId: 'm2' });
    await fixture.happen({ shopId: 's2', mode: 'live' });
    await fixture.happen({ subjectId: 'payment-x', kind: 'payment.status_changed' });
    assert.deepEqual(sequences(await take(buyer, 1)), ['30']);
    assert.deepEqual(sequences(await take(merchant, 2)), ['20', '30']);
  });

  test('of a kind leave the others out', async () => {
    const { fixture, live } = await open();
    const reading = live.read({ ...everything, kinds: new Set(['refund.created']) });
    await fixture.happen();
    await fixture.happen({ kind: 'refund.created' });
    assert.deepEqual(sequences(await take(reading, 1)), ['20']);
  });

  test('that a slow reader has no room for are lost, oldest first, and counted', async () => {
    const { fixture, live } = await open({ readerBuffer: 3 });
    const reading = live.read(everything);
    for (let i = 0; i < 8; i += 1) await fixture.happen();
    const received = await take(reading, 3);
    assert.deepEqual(sequences(received), ['60', '70', '80']);
    assert.deepEqual(
      received.map(({ missed }) => missed),
      [5, 0, 0],
    );
  });
});

describe('events that did not come over the bus', () => {
  test('are read from the store when the next one comes: in order, and each once', async () => {
    const { fixture, live } = await open();
    const reading = live.read(everything);
    await fixture.happen();
    const lost = [fixture.store(), fixture.store()];
    await fixture.happen();
    await fixture.happen();
    assert.deepEqual(sequences(await take(reading, 5)), ['10', '20', '30', '40', '50']);
    // A relay that was thought dead speaks after all.
    await fixture.notify(...lost);
    await fixture.happen();
    assert.deepEqual(sequences(await take(reading, 1)), ['60']);
    await comesNext(fixture, reading);
  });

  test('are read when nothing follows, as soon as the stream’s position is known', async () => {
    const { fixture, live } = await open();
    const reading = live.read(everything);
    await fixture.happen();
    for (let i = 0; i < 1_200; i += 1) fixture.store();
    await fixture.notify();
    const received: DeliveredEvent[] = [];
    while (received.at(-1)?.event.sequence !== '12010') received.push(...(await take(reading, 1)));
    // A reader who is slower than the store loses its oldest events, as ever, and learns how many.
    assert.equal(received.length + received.reduce((sum, { missed }) => sum + missed, 0), 1_201);
    await fixture.notify();
    await comesNext(fixture, reading);
    assert.equal(fixture.count('liveEventsAfter'), 3);
  });

  test('are read at the next message when the store could not be asked', async () => {
    const { fixture, live } = await open();
    const reading = live.read(everything);
    await fixture.happen();
    fixture.store();
    fixture.obstacles.set('liveEventsAfter', () => Promise.reject(new Error('no database')));
    await fixture.happen();
    assert.deepEqual(sequences(await take(reading, 1)), ['10']);
    await eventually(() => fixture.count('liveEventsAfter') > 0, 'the store is asked');
    fixture.obstacles.clear();
    const received = take(reading, 2);
    await againAndAgain(received, () => fixture.notify());
    assert.deepEqual(sequences(await received), ['20', '30']);
  });

  test('of more than a day are dropped, and what follows is sent', async () => {
    const { fixture, live } = await open();
    const reading = live.read(everything);
    await fixture.happen();
    fixture.store();
    await fixture.happen();
    assert.deepEqual(sequences(await take(reading, 3)), ['10', '20', '30']);
    fixture.events.splice(0);
    await fixture.bus.publish('events', { behind: '900', last: '900', events: [] });
    const event = fixture.store();
    let last = 900;
    const received = take(reading, 1);
    await againAndAgain(received, () => {
      const behind = String(last);
      const sequence = String((last += 10));
      const events = [{ ...event, sequence }];
      return fixture.bus.publish('events', { behind, last: sequence, events });
    });
    const [first] = await received;
    assert.ok(Number(first?.event.sequence) > 900);
  });
});

describe('a resumed reading', () => {
  test('continues behind the event from memory, without asking the store', async () => {
    const { fixture, live } = await open();
    for (let i = 0; i < 4; i += 1) await fixture.happen();
    const reading = live.read(everything, '20');
    await fixture.happen();
    assert.deepEqual(sequences(await take(reading, 3)), ['30', '40', '50']);
    assert.equal(fixture.count('liveEventsAfter'), 0);
  });

  test('asks the store for what memory has let go, and misses nothing on the way', async () => {
    const { fixture, live } = await open({ recentEvents: 2 });
    for (let i = 0; i < 6; i += 1) await fixture.happen();
    const reading = live.read(everything, '10');
    assert.deepEqual(sequences(await take(reading, 5)), ['20', '30', '40', '50', '60']);
    await fixture.happen();
    assert.deepEqual(sequences(await take(reading, 1)), ['70']);
    assert.equal(fixture.count('liveEventsAfter'), 1);
  });

  test('sends once what happens while the store is asked, whether the store has it or not', async () => {
    const { fixture, live } = await open();
    fixture.store();
    fixture.store();
    const gate = Promise.withResolvers<void>();
    fixture.obstacles.set('liveEventsAfter', () => gate.promise);
    const reading = live.read(everything, '10');
    const stored = take(reading, 3);
    await fixture.happen();
    gate.resolve();
    // Stored already, but not yet published on the bus when the store answers.
    const late = fixture.store();
    assert.deepEqual(sequences(await stored), ['20', '30', '40']);
    await fixture.notify(late);
    await comesNext(fixture, reading);
  });

  test('reads the store page by page', async () => {
    const { fixture, live } = await open({ recentEvents: 2 });
    for (let i = 0; i < 1_200; i += 1) fixture.store();
    const reading = live.read(everything, '10');
    assert.deepEqual(
      sequences(await take(reading, 1_199)),
      fixture.events.slice(1).map(({ sequence }) => sequence),
    );
    await fixture.happen();
    assert.deepEqual(sequences(await take(reading, 1)), ['12010']);
    assert.equal(fixture.count('liveEventsAfter'), 3);
  });

  test('from an event that the store does not know, or that is too old, continues from now', async () => {
    const { fixture, live } = await open();
    await fixture.happen();
    const reading = live.read(everything, '999999');
    const received = take(reading, 1);
    await fixture.happen();
    assert.deepEqual(sequences(await received), ['20']);
  });

  test('is narrowed in the store as it is in memory', async () => {
    const { fixture, live } = await open({ recentEvents: 1 });
    await fixture.happen();
    await fixture.happen({ shopId: 's2' });
    await fixture.happen({ kind: 'payout.created' });
    await fixture.happen({ mode: 'live' });
    await fixture.happen();
    await fixture.happen({ shopId: 's2' });
    const reading = live.read(
      {
        audience: { merchantId: 'm1', shopId: 's1', mode: 'test' },
        kinds: new Set(['payment.created']),
      },
      '10',
    );
    assert.deepEqual(sequences(await take(reading, 1)), ['50']);
    await comesNext(fixture, reading);
  });

  test('rejects when the store cannot be asked, and has then ended', async () => {
    const { fixture, live } = await open();
    fixture.obstacles.set('liveEventsAfter', () => Promise.reject(new Error('no database')));
    const reading = live.read(everything, '10');
    await assert.rejects(reading.next());
    assert.deepEqual(await reading.next(), { done: true, value: undefined });
  });
});

describe('a reading', () => {
  test('that waits is ended by return, and by the closing of the source', async () => {
    const { live } = await open();
    const returned = live.read(everything);
    const closed = live.read(everything);
    const waiting = [returned.next(), closed.next()];
    await returned.return?.();
    live.close();
    assert.deepEqual(await Promise.all(waiting), [
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]);
  });
});
