import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { openLiveEvents, type DeliveredEvent } from '../../gateway/live/events.ts';
import { openBus } from '../../subgraphs/platform/queue/bus.ts';
import { startRelay } from '../../subgraphs/platform/events/relay.ts';
import type { StreamedEvent } from '../../subgraphs/rules/event.ts';
import type { Bus } from '../../subgraphs/platform/bus/bus.ts';
import { inTransaction } from '../../subgraphs/platform/database/statement.ts';
import { liveKinds } from '../../subgraphs/rules/event.ts';
import { rfc3339 } from '../../schema/scalars.ts';
import { findEventsBehind } from '../../subgraphs/merchants/event-log/read-event-log.ts';
import { eventually } from '../support/eventually.ts';
import {
  log,
  openHarness,
  type Shop,
  type Harness,
  startTestRelay,
  writeEvent,
} from './harness.ts';

let harness: Harness;
let shop: Shop;
before(async () => {
  harness = await openHarness();
  shop = await harness.addShop();
});
after(() => harness.close());

const untilPublished = (published: readonly StreamedEvent[], count: number): Promise<true> =>
  eventually(
    () => published.length >= count,
    () => `${published.length} of ${count} published`,
  );

const sequenceOf = async (eventId: string): Promise<number | null> => {
  const { rows } = await harness.pool.query<{ sequence: number | null }>(
    'select sequence::int as sequence from event where id = $1',
    [eventId],
  );
  return rows[0]?.sequence ?? null;
};

test('events are numbered and published in the order of writing, with what the stream sends', async () => {
  const written = [];
  for (let index = 0; index < 30; index += 1) written.push(await writeEvent(harness.pool, shop));
  const published: StreamedEvent[] = [];
  const relay = startTestRelay(harness, async () => {}, published);
  await untilPublished(published, 30);
  await relay.stop();
  const numbers = await Promise.all(written.map(({ eventId }) => sequenceOf(eventId)));
  assert.deepEqual(
    published.map(({ sequence }) => Number(sequence)),
    numbers,
  );
  assert.deepEqual(
    numbers,
    numbers.toSorted((a, b) => Number(a) - Number(b)),
  );
  const [first] = published;
  assert.ok(first);
  assert.equal(typeof first.sequence, 'string');
  assert.match(first.at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const { merchantId, shopId, kind, mode, payload } = first;
  assert.deepEqual(
    { merchantId, shopId, kind, mode, payload },
    {
      merchantId: shop.merchantId,
      shopId: shop.shopId,
      kind: 'payment.status_changed',
      mode: 'test',
      payload: { status: 'succeeded' },
    },
  );
});

test('a transaction that commits late gets the later number, though it wrote first', async () => {
  const published: StreamedEvent[] = [];
  const relay = startTestRelay(harness, async () => {}, published);
  const quick = { eventId: '' };
  const slow = await inTransaction(harness.pool, async (client) => {
    const written = await writeEvent(client, shop);
    quick.eventId = (await writeEvent(harness.pool, shop)).eventId;
    await untilPublished(published, 1);
    return written;
  });
  await untilPublished(published, 2);
  await relay.stop();
  assert.ok(Number(await sequenceOf(slow.eventId)) > Number(await sequenceOf(quick.eventId)));
});

test('a rolled back event is never seen', async () => {
  const published: StreamedEvent[] = [];
  const relay = startTestRelay(harness, async () => {}, published);
  const failed = inTransaction(harness.pool, async (client) => {
    await writeEvent(client, shop);
    throw new Error('declined');
  });
  await assert.rejects(failed, /declined/);
  const { eventId } = await writeEvent(harness.pool, shop);
  await untilPublished(published, 1);
  await relay.stop();
  assert.deepEqual(
    published.map(({ sequence }) => Number(sequence)),
    [await sequenceOf(eventId)],
  );
});

test('a batch whose deliveries cannot be made is repeated whole', async () => {
  const endpoint = await harness.addEndpoint(shop, 'http://127.0.0.1:9/');
  const { eventId } = await writeEvent(harness.pool, shop);
  const published: StreamedEvent[] = [];
  const bus: Bus = {
    publish: async (_topic, message) => {
      if (message !== null && 'events' in message) published.push(...message.events);
    },
    subscribe: () => () => {},
  };
  // A sequence keeps its number when the statement that took it fails.
  await harness.pool.query(`create sequence tries;
    create function fail_first() returns trigger language plpgsql as $$
    begin
      if nextval('tries') = 1 then raise exception 'in the way' using errcode = '40001'; end if;
      return new;
    end $$;
    create trigger fail_first after insert on webhook_delivery for each row execute function fail_first()`);
  const woken: string[] = [];
  const relay = startRelay({
    pool: harness.pool,
    bus,
    log,
    wake: (lanes) => void woken.push(...lanes.map(({ lane }) => lane)),
  });
  await untilPublished(published, 1);
  await relay.stop();
  const { rows: tries } = await harness.pool.query('select last_value from tries');
  assert.deepEqual(tries, [{ last_value: '2' }]);
  await harness.pool.query('drop function fail_first cascade; drop sequence tries');
  assert.deepEqual(woken, [endpoint.id]);
  const { rows } = await harness.pool.query('select 1 from webhook_delivery where event_id = $1', [
    eventId,
  ]);
  assert.equal(rows.length, 1);
});

test('a ring on the topic outbox ends the pause, and another process takes over from one whose session ended', async (context) => {
  const rings = new Set<() => void>();
  const published: StreamedEvent[] = [];
  const ringing: Bus = {
    publish: async (_topic, message) => {
      if (message !== null && 'events' in message) published.push(...message.events);
    },
    subscribe: (_topic, listener) => {
      const ring = (): void => Reflect.apply(listener, undefined, [null]);
      rings.add(ring);
      return () => rings.delete(ring);
    },
  };
  const parts = { pool: harness.pool, bus: ringing, log, wake: async () => {} };
  const relays = [startRelay(parts), startRelay(parts)];
  const stopAll = (): Promise<unknown> => Promise.all(relays.map((relay) => relay.stop()));
  context.after(stopAll);
  await eventually(
    () => rings.size === 1,
    () => 'one of them relays',
  );
  await writeEvent(harness.pool, shop);
  for (const ring of rings) ring();
  await untilPublished(published, 1);
  const { rows } = await harness.pool.query<{ ended: boolean }>(`
    select pg_terminate_backend(pid) as ended from pg_locks where locktype = 'advisory' and granted and pid <> pg_backend_pid()
      and database = (select oid from pg_database where datname = current_database())
      and ((classid::bigint << 32) | objid::bigint) = hashtextextended('payment-service/relay', 0)`);
  assert.deepEqual(rows, [{ ended: true }], 'one relay of this database holds the lock');
  await writeEvent(harness.pool, shop);
  await untilPublished(published, 2);
  await stopAll();
  assert.equal(rings.size, 0);
});

test('a stream is resumed behind an event of the last 24 hours, anybody’s, and gives the own events alone', async () => {
  const other = await harness.addShop();
  const written = [];
  for (const whose of [shop, other, shop, other, shop])
    written.push(await writeEvent(harness.pool, whose));
  const published: StreamedEvent[] = [];
  const relay = startTestRelay(harness, async () => {}, published);
  await untilPublished(published, 5);
  await relay.stop();
  const numbers = await Promise.all(written.map(({ eventId }) => sequenceOf(eventId)));
  const now = Temporal.Now.instant();
  const behind = async (index: number, at = now): Promise<readonly number[] | null> => {
    const filter = {
      merchantId: shop.merchantId,
      shopId: shop.shopId,
      mode: 'test' as const,
      kinds: [...liveKinds],
    };
    return (
      (
        await findEventsBehind(harness.database.fork(), String(numbers[index]), 10, filter, at)
      )?.map(({ sequence }) => Number(sequence)) ?? null
    );
  };
  assert.deepEqual(await behind(0), [numbers[2], numbers[4]]);
  assert.deepEqual(await behind(1), [numbers[2], numbers[4]], 'the number of a foreign event');
  assert.deepEqual(await behind(4), []);
  assert.deepEqual(await behind(0, now.add({ hours: 23, minutes: 59 })), [numbers[2], numbers[4]]);
  assert.equal(await behind(0, now.add({ hours: 24, seconds: 10 })), null);
  assert.equal(await findEventsBehind(harness.database.fork(), '999999999', 10, {}, now), null);
});

test('a relay that is killed after its commit and before it publishes on the bus leaves no gap in the live stream', async (context) => {
  const bus = await openBus({ redisUrl: null, databaseUrl: harness.database.url, log });
  context.after(() => bus.close());
  const live = openLiveEvents({
    bus,
    log,
    readEventsAfter: async (behind, _filter, first) => {
      const rows = await findEventsBehind(
        harness.database.fork(),
        behind,
        first,
        {},
        Temporal.Now.instant(),
      );
      return (
        rows?.map(({ sequence, streamKind: kind, createdAt, ...row }) => ({
          ...row,
          sequence: String(sequence),
          kind,
          at: rfc3339(createdAt),
        })) ?? null
      );
    },
  });
  context.after(() => live.close());
  const reading = live.read({
    audience: { merchantId: shop.merchantId },
    kinds: new Set(liveKinds),
  });
  const nextIs = async ({ eventId }: { readonly eventId: string }): Promise<void> => {
    const { value }: IteratorResult<DeliveredEvent, undefined> = await reading.next();
    assert.deepEqual(
      [value?.event.sequence, value?.missed],
      [String(await sequenceOf(eventId)), 0],
    );
  };
  const parts = { pool: harness.pool, bus, log, wake: async () => {} };
  const before = startRelay(parts);
  context.after(() => before.stop());
  await nextIs(await writeEvent(harness.pool, shop));
  await before.stop();

  const doomed = fork(new URL('doomed-relay.ts', import.meta.url), [harness.database.url]);
  context.after(() => doomed.kill('SIGKILL'));
  const ended = once(doomed, 'exit');
  await once(doomed, 'message');
  const lost = await writeEvent(harness.pool, shop);
  const [, signal] = await ended;
  assert.equal(signal, 'SIGKILL');
  assert.notEqual(await sequenceOf(lost.eventId), null, 'it was committed');
  const heir = startRelay(parts);
  context.after(() => heir.stop());
  await nextIs(lost);
  await nextIs(await writeEvent(harness.pool, shop));
});
