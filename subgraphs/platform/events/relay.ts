/**
 * The relay: takes events out of the outbox in the order of writing, assigns sequence numbers,
 * makes webhook deliveries, and then notifies the deliverers of lanes with work and the bus.
 * Numbers and deliveries are one transaction. Notifications follow its commit and may be lost, with
 * the relay or on the bus: a sweep finds the deliveries, and a reader that learns the next numbers
 * or the stream's position detects the gap and reads the table (`gateway/live/events`). So a
 * failure anywhere is repeated safely.
 * One process relays at a time, the holder of an advisory lock; the others stand by. The lock
 * belongs to the holder's session: it ends with the session, and it outlives the commit, so that
 * messages leave in the order of the numbers. A reader of a number will therefore never see a
 * smaller one appear. The pool must lead to PostgreSQL directly, not through a pooler that shares
 * sessions.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Consumer } from '../../rules/event.ts';
import type { Bus, StreamStretch, WebhookLane } from '../bus/bus.ts';
import type { Logger } from '../tracing/telemetry.ts';
import { WakeSignal } from '../queue/run-job.ts';
import { isSharded } from '../database/sharding.ts';
import {
  awaitEarlierNumbers,
  numberByShard,
  newestNumber,
  numberAtOnce,
  numberBatch,
  type Batch,
  type NumberEvents,
} from './number-events.ts';

/**
 * The poll interval of the outbox without a wake-up: after a batch, growing to the longest while no
 * event arrives.
 */
const poll_ms = { shortest: 25, longest: 1_000 } as const;
/**
 * The rest between batches that are not full: a single event is numbered at once, and under load
 * many share one transaction.
 */
const rest_ms = 5;
/** So many batches may be in notification while the next is numbered. */
const announcements_max = 4;
/** How often the bus gets the position of the stream while nothing happens. */
const standing_ms = 1_000;
/**
 * How often a process that stands by asks for the lock, and how long a relay pauses after a
 * failure.
 */
const standBy_ms = 250;
const failurePause_ms = 1_000;

/**
 * Notifies the relay that the outbox has events: at once, or soon if only the stream carries them,
 * so that those of a moment share a batch.
 */
export type WakeRelay = (urgency?: 'at once' | 'soon') => void;

interface RelayDeps {
  readonly pool: pg.Pool;
  readonly bus: Bus;
  readonly log: Logger;
  /** Wakes the consumers in this process for which there are events. Absent: they poll. */
  readonly wakeConsumers?: (consumers: readonly Consumer[]) => void;
  /** Wakes the deliverers of these lanes. */
  readonly wake: (lanes: readonly WebhookLane[]) => void;
}

export interface Relay {
  /** Ends after the batch in progress; the lock is free when it resolves. */
  stop(): Promise<void>;
}

/**
 * Starts relaying, or stands by while another process relays. The relaying process subscribes to
 * the bus topic `outbox` and reads the outbox at once on each message.
 */
export const startRelay = (deps: RelayDeps): Relay => {
  const stopping = new AbortController();
  const wakeSignal = new WakeSignal();
  const ended = relayUntil(stopping.signal, deps, wakeSignal);
  return {
    stop: async () => {
      stopping.abort();
      wakeSignal.wake();
      await ended;
    },
  };
};

const relayUntil = async (
  stopping: AbortSignal,
  deps: RelayDeps,
  wakeSignal: WakeSignal,
): Promise<void> => {
  while (!stopping.aborted) {
    let wait_ms = standBy_ms;
    try {
      await relayAsHolder(stopping, deps, wakeSignal);
    } catch (error) {
      deps.log.error({ err: error }, 'the relay failed; restarting');
      wait_ms = failurePause_ms;
    }
    // A stop ends the wait early: that is no failure.
    await sleep(wait_ms, undefined, { signal: stopping }).catch(() => {});
  }
};

/** Relays until it is stopped or fails; returns at once when another process holds the lock. */
const relayAsHolder = async (
  stopping: AbortSignal,
  deps: RelayDeps,
  wakeSignal: WakeSignal,
): Promise<void> => {
  const client = await deps.pool.connect();
  let held = false;
  // A connection that breaks while idle reports it by this event; the next statement on it fails,
  // which is soon enough.
  const noteLost = (error: unknown): void =>
    deps.log.warn({ err: error }, 'the relay lost its connection');
  client.on('error', noteLost);
  let unsubscribe = (): void => {};
  try {
    held = await takeLock(client);
    if (!held) return;
    unsubscribe = deps.bus.subscribe('outbox', () => wakeSignal.wake());
    deps.log.info('relaying events');
    // A statement in progress when the session ended may never be answered: report the end of the
    // session.
    const lost = new Promise<never>((_, reject) =>
      client.once('end', () => reject(new Error('the relay lost its session'))),
    );
    await Promise.race([relayBatches(stopping, deps, client, wakeSignal), lost]);
  } finally {
    unsubscribe();
    // A standby receives the same client again and again.
    client.off('error', noteLost);
    // Closing the session releases the lock in any state.
    client.release(held);
  }
};

const takeLock = async (client: pg.PoolClient): Promise<boolean> => {
  const { rows } = await client.query<{ held: boolean }>(
    "select pg_try_advisory_lock(hashtextextended('payment-service/relay', 0)) as held",
  );
  return rows[0]?.held === true;
};

/** Numbering on this session, in one database or by shards. */
const openNumbering = async (client: pg.PoolClient): Promise<NumberEvents> => {
  if (!(await isSharded(client))) return numberAtOnce(client);
  await awaitEarlierNumbers(client);
  return numberByShard(client);
};

const relayBatches = async (
  stopping: AbortSignal,
  deps: RelayDeps,
  client: pg.PoolClient,
  wakeSignal: WakeSignal,
): Promise<void> => {
  const numberSome = await openNumbering(client);
  const announcements = new Set<Promise<void>>();
  let wait_ms: number = poll_ms.shortest;
  let last = await newestNumber(client);
  let publishedAt_ms = -Infinity;
  let numberedAt_ms = -Infinity;
  while (!stopping.aborted) {
    const batch = await numberBatch(client, numberSome);
    if (batch && batch.lanes.length > 0) deps.wake(batch.lanes);
    if (batch || performance.now() - publishedAt_ms >= standing_ms) {
      const { events, consumers } = batch ?? nothing;
      const behind = last;
      last = batch?.last ?? last;
      const stretch = { behind: String(behind), last: String(last), events };
      const announcement = announce(deps, stretch).finally(() =>
        announcements.delete(announcement),
      );
      announcements.add(announcement);
      publishedAt_ms = performance.now();
      if (consumers.length > 0) deps.wakeConsumers?.(consumers);
      if (announcements.size === announcements_max) await Promise.race(announcements);
    }
    if (batch?.isFull) continue;
    if (batch) numberedAt_ms = performance.now();
    wait_ms = batch ? poll_ms.shortest : Math.min(wait_ms * 2, poll_ms.longest);
    await wakeSignal.wait(wait_ms);
    const rested_ms = performance.now() - numberedAt_ms;
    if (rested_ms < rest_ms) await sleep(rest_ms - rested_ms);
  }
  // The lock outlives what it has sent.
  await Promise.all(announcements);
};

const nothing: Pick<Batch, 'events' | 'consumers'> = { events: [], consumers: [] };

/** Notifies the bus. A failure is only logged: the facts are in PostgreSQL. */
const announce = ({ bus, log }: RelayDeps, stretch: StreamStretch): Promise<void> =>
  bus
    .publish('events', stretch)
    .catch((error: unknown) =>
      log.warn({ err: error }, 'events were relayed, but some processes were not notified'),
    );
