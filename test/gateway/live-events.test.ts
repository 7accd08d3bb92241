import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import {
  openLiveEvents,
  type LiveEvents,
  type LiveFilter,
} from '../../gateway/live/live-events.ts';
import type { Told } from '../../gateway/live/live-reader.ts';
import { storedEvents } from '../../gateway/live/stored-events.ts';
import { streamKinds } from '../../subgraphs/kernel/rules/event.ts';
import { openSmallGraph, silent, World } from './small-graph.ts';

const open = async (
  limits: { readonly rememberedEvents?: number; readonly readerBuffer?: number } = {},
) => {
  const world = new World();
  const supergraph = await openSmallGraph(world);
  return {
    world,
    live: openLiveEvents({
      bus: world.bus,
      readEventsAfter: storedEvents(supergraph),
      log: silent,
      ...limits,
    }),
  };
};

const everything: LiveFilter = { audience: {}, kinds: new Set(streamKinds) };

type Reading = ReturnType<LiveEvents['read']>;

const take = async (reading: Reading, count: number): Promise<Told[]> => {
  const told: Told[] = [];
  while (told.length < count) {
    const { done, value } = await reading.next();
    if (done) break;
    told.push(value);
  }
  return told;
};

const sequences = (told: readonly Told[]): string[] => told.map(({ event }) => event.sequence);

/** Whether nothing comes. */
const isSilent = async (reading: Reading): Promise<boolean> => {
  const none = Symbol('none');
  const quiet = new Promise((resolve) => setTimeout(() => resolve(none), 20));
  return (await Promise.race([reading.next(), quiet])) === none;
};

describe('the live events', () => {
  test('come in order from the moment of reading, and only once when the bus repeats itself', async () => {
    const { world, live } = await open();
    await world.happen();
    const reading = live.read(everything);
    const second = await world.happen();
    await world.tell(second);
    await world.happen();
    assert.deepEqual(sequences(await take(reading, 2)), ['20', '30']);
    assert(await isSilent(reading));
  });

  test('of a shop are those of its merchant, shop and mode', async () => {
    const { world, live } = await open();
    const reading = live.read({
      ...everything,
      audience: { merchantId: 'm1', shopId: 's1', mode: 'test' },
    });
    await world.happen({ merchantId: 'm2', shopId: 's3' });
    await world.happen({ shopId: 's2' });
    await world.happen({ mode: 'live' });
    await world.happen();
    assert.deepEqual(sequences(await take(reading, 1)), ['40']);
  });

  test('of a buyer are those of the payment, and of a merchant those of all its shops', async () => {
    const { world, live } = await open();
    const buyer = live.read({
      ...everything,
      audience: { merchantId: 'm1', subjectId: 'payment-x' },
    });
    const merchant = live.read({ ...everything, audience: { merchantId: 'm1' } });
    await world.happen({ merchantId: 'm2' });
    await world.happen({ shopId: 's2', mode: 'live' });
    await world.happen({ subjectId: 'payment-x', kind: 'payment.status_changed' });
    assert.deepEqual(sequences(await take(buyer, 1)), ['30']);
    assert.deepEqual(sequences(await take(merchant, 2)), ['20', '30']);
  });

  test('of a kind leave the others out', async () => {
    const { world, live } = await open();
    const reading = live.read({ ...everything, kinds: new Set(['refund.created']) });
    await world.happen();
    await world.happen({ kind: 'refund.created' });
    assert.deepEqual(sequences(await take(reading, 1)), ['20']);
  });

  test('that a slow reader has no room for are lost, oldest first, and counted', async () => {
    const { world, live } = await open({ readerBuffer: 3 });
    const reading = live.read(everything);
    for (let i = 0; i < 8; i += 1) await world.happen();
    const told = await take(reading, 3);
    assert.deepEqual(sequences(told), ['60', '70', '80']);
    assert.deepEqual(
      told.map(({ missed }) => missed),
      [5, 0, 0],
    );
  });
});

describe('events that did not come over the bus', () => {
  test('are read from the store when the next one comes: in order, and each once', async () => {
    const { world, live } = await open();
    const reading = live.read(everything);
    await world.happen();
    const lost = [world.store(), world.store()];
    await world.happen();
    await world.happen();
    assert.deepEqual(sequences(await take(reading, 5)), ['10', '20', '30', '40', '50']);
    // A relay that was thought dead speaks after all.
    await world.tell(...lost);
    await world.happen();
    assert.deepEqual(sequences(await take(reading, 1)), ['60']);
    assert(await isSilent(reading));
  });

  test('are read when nothing follows, as soon as it is told where the stream stands', async () => {
    const { world, live } = await open();
    const reading = live.read(everything);
    await world.happen();
    for (let i = 0; i < 1_200; i += 1) world.store();
    await world.tell();
    const told: Told[] = [];
    while (told.at(-1)?.event.sequence !== '12010') told.push(...(await take(reading, 1)));
    // A reader who is slower than the store loses its oldest events, as ever, and is told how many.
    assert.equal(told.length + told.reduce((sum, { missed }) => sum + missed, 0), 1_201);
    await world.tell();
    assert(await isSilent(reading));
    assert.equal(world.count('liveEventsAfter'), 3);
  });

  test('are read at the next message when the store could not be asked', async () => {
    const { world, live } = await open();
    const reading = live.read(everything);
    await world.happen();
    world.store();
    world.obstacles.set('liveEventsAfter', () => Promise.reject(new Error('no database')));
    await world.happen();
    assert.deepEqual(sequences(await take(reading, 1)), ['10']);
    assert(await isSilent(reading));
    world.obstacles.clear();
    await world.tell();
    assert.deepEqual(sequences(await take(reading, 2)), ['20', '30']);
  });

  test('of more than a day are let go, and what follows is told', async () => {
    const { world, live } = await open();
    const reading = live.read(everything);
    await world.happen();
    world.store();
    await world.happen();
    assert.deepEqual(sequences(await take(reading, 3)), ['10', '20', '30']);
    world.events.splice(0);
    await world.bus.publish('events', { behind: '900', last: '900', events: [] });
    await new Promise((resolve) => setTimeout(resolve, 20));
    const event = { ...world.store(), sequence: '910' };
    await world.bus.publish('events', { behind: '900', last: '910', events: [event] });
    assert.deepEqual(sequences(await take(reading, 1)), ['910']);
  });
});

describe('a resumed reading', () => {
  test('goes on behind the event from memory, without asking the store', async () => {
    const { world, live } = await open();
    for (let i = 0; i < 4; i += 1) await world.happen();
    const reading = live.read(everything, '20');
    await world.happen();
    assert.deepEqual(sequences(await take(reading, 3)), ['30', '40', '50']);
    assert.equal(world.count('liveEventsAfter'), 0);
  });

  test('asks the store for what memory has let go, and misses nothing on the way', async () => {
    const { world, live } = await open({ rememberedEvents: 2 });
    for (let i = 0; i < 6; i += 1) await world.happen();
    const reading = live.read(everything, '10');
    assert.deepEqual(sequences(await take(reading, 5)), ['20', '30', '40', '50', '60']);
    await world.happen();
    assert.deepEqual(sequences(await take(reading, 1)), ['70']);
    assert.equal(world.count('liveEventsAfter'), 1);
  });

  test('tells once what happens while the store is asked, whether the store has it or not', async () => {
    const { world, live } = await open();
    world.store();
    world.store();
    const gate = Promise.withResolvers<void>();
    world.obstacles.set('liveEventsAfter', () => gate.promise);
    const reading = live.read(everything, '10');
    const told = take(reading, 4);
    await world.happen();
    gate.resolve();
    // Stored already, but not yet told over the bus when the store answers.
    const late = world.store();
    await new Promise((resolve) => setTimeout(resolve, 20));
    await world.tell(late);
    await world.happen();
    assert.deepEqual(sequences(await told), ['20', '30', '40', '50']);
    assert(await isSilent(reading));
  });

  test('reads the store page by page', async () => {
    const { world, live } = await open({ rememberedEvents: 2 });
    for (let i = 0; i < 1_200; i += 1) world.store();
    const reading = live.read(everything, '10');
    assert.deepEqual(
      sequences(await take(reading, 1_199)),
      world.events.slice(1).map(({ sequence }) => sequence),
    );
    await world.happen();
    assert.deepEqual(sequences(await take(reading, 1)), ['12010']);
    assert.equal(world.count('liveEventsAfter'), 3);
  });

  test('from an event that the store does not know, or that is too old, goes on from now', async () => {
    const { world, live } = await open();
    await world.happen();
    const reading = live.read(everything, '999999');
    const told = take(reading, 1);
    await world.happen();
    assert.deepEqual(sequences(await told), ['20']);
  });

  test('is narrowed in the store as it is in memory', async () => {
    const { world, live } = await open({ rememberedEvents: 1 });
    await world.happen();
    await world.happen({ shopId: 's2' });
    await world.happen({ kind: 'payout.created' });
    await world.happen({ mode: 'live' });
    await world.happen();
    await world.happen({ shopId: 's2' });
    const reading = live.read(
      {
        audience: { merchantId: 'm1', shopId: 's1', mode: 'test' },
        kinds: new Set(['payment.created']),
      },
      '10',
    );
    assert.deepEqual(sequences(await take(reading, 1)), ['50']);
    assert(await isSilent(reading));
  });

  test('rejects when the store cannot be asked, and has then ended', async () => {
    const { world, live } = await open();
    world.obstacles.set('liveEventsAfter', () => Promise.reject(new Error('no database')));
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
