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
import type pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Consumer,
  namedWebhookEvents,
  type LiveKind,
  type StreamedEvent,
} from '../../rules/event.ts';
import type { Bus, StreamStretch, WebhookLane } from '../bus/bus.ts';
import type { Logger } from '../tracing/telemetry.ts';
import { WakeSignal } from '../queue/run-job.ts';
import { rfc3339 } from '../../../schema/scalars.ts';
import type { Mode } from '../../rules/mode.ts';
import { isNoDeadLetter, notDeadLetter, workBatch, type Subject } from '../alerts/dead-letters.ts';
import { EventEntity } from '../database/entities.ts';
import { emOn } from '../database/orm-connections.ts';
import { isSharded, drawNumbers, sqlFile } from '../database/sql-file.ts';
import { run, type Runner, type Statement } from '../database/statement.ts';

// Numbers the events of the outbox: one statement gives a batch its numbers, in the order of
// writing, and makes its webhook deliveries.

/** Events of one batch. */
const batch_max = 500;

interface Batch {
  readonly isFull: boolean;
  /** The highest number assigned so far. */
  readonly last: bigint;
  readonly lanes: readonly WebhookLane[];
  readonly consumers: readonly Consumer[];
  readonly events: readonly StreamedEvent[];
}

/** Numbers up to so many of the oldest events and makes their deliveries; null when none waits. */
type NumberEvents = (limit: number) => Promise<Batch | null>;

/**
 * One batch; null when the outbox is empty. An event that makes its batch fail is set aside, and
 * gets a later number when it does not any more.
 */
const numberBatch = async (
  client: pg.PoolClient,
  numberSome: NumberEvents,
): Promise<Batch | null> => {
  const { result } = await workBatch(client, {
    task,
    limit: batch_max,
    work: numberSome,
    first: () => findOldest(client),
  });
  return result;
};

const numberOldest = sqlFile(import.meta.dirname, 'number-oldest.sql');
const numberShard = sqlFile(import.meta.dirname, 'number-shard.sql');

/** Numbering in one database: one statement for the events of all merchants. */
export const numberAtOnce =
  (runner: Runner): NumberEvents =>
  async (limit) => {
    const rows = await run<NumberedRow>(runner, numberOldest, [limit, namedWebhookEvents]);
    const last = rows.at(-1)?.sequence;
    return last === undefined ? null : { ...batchOf(rows, last), isFull: rows.length === limit };
  };

/** The result of a statement that has numbered events, in the order of the numbers up to `last`. */
const batchOf = (rows: readonly NumberedRow[], last: bigint): Omit<Batch, 'isFull'> => {
  const lanes = rows[0]?.lanes ?? [];
  const consumers = rows.flatMap(({ consumer }) => consumer ?? []);
  return { last, lanes, consumers, events: rows.flatMap(streamed) };
};

/** The position of the stream: only this session assigns numbers while it holds the lock. */
const newestNumber = async (client: pg.PoolClient): Promise<bigint> => {
  const [row] = await run<{ newest: bigint | null }>(client, newestSequence, []);
  return row?.newest ?? 0n;
};

interface NumberedRow {
  readonly sequence: bigint;
  readonly kind: LiveKind | null;
  readonly merchantId: string;
  readonly shopId: string;
  readonly mode: Mode;
  readonly subjectId: string;
  readonly at: Temporal.Instant;
  readonly payload: Record<string, unknown> | null;
  readonly consumer: Consumer | null;
  /** On the first row: the lanes with new deliveries, of the whole batch. */
  readonly lanes: readonly WebhookLane[] | null;
}

/** The event as the stream publishes it; nothing when it is not on the stream. */
const streamed = ({ kind, sequence, payload, at, ...row }: NumberedRow): StreamedEvent[] => {
  const { merchantId, shopId, mode, subjectId } = row;
  const about = { merchantId, shopId, mode, subjectId };
  return kind === null
    ? []
    : [{ ...about, sequence: sequence.toString(), kind, payload: payload ?? {}, at: rfc3339(at) }];
};

// Where every event has reached its age and is gone, the sequence itself knows.
const newestSequence = {
  name: 'relay.newest_sequence',
  text: `select coalesce((select max(sequence) from event), (select last_value from event_sequence_seq where is_called)) as newest`,
};

/** The task under which events are set aside. */
const task = 'relay';
const waits = `event.sequence is null and ${notDeadLetter(task, 'event.merchant_id', 'event.id::text')}`;

const findOldest = async (client: pg.PoolClient): Promise<Subject | null> => {
  const waiting = { sequence: null, [isNoDeadLetter(task, null)]: [] };
  const order = { fields: ['id'], orderBy: { position: 'asc' } } as const;
  const event = await emOn(client).findOne(EventEntity, waiting, order);
  return event && { merchantId: event.merchantId, subjectId: event.id };
};

// Numbers the events of the outbox where the tables are sharded: shard by shard, the one with the
// oldest event first. A shard's numbers are drawn after those of the previous shard are committed,
// so that a reader of a number never sees a smaller one appear: the rows of several machines become
// visible one machine after another.

/** The merchants of one shard whose events wait, and how many of these events to read. */
interface WaitingShard {
  readonly merchantIds: readonly string[];
  readonly count: number;
}

const waitingShards: Statement = {
  name: 'relay.waiting_shards',
  text: `select array_agg(distinct merchant_id) as "merchantIds", count(*)::int as count
    from (select merchant_id, position from event where ${waits} order by position limit $1) as oldest
    group by get_shard_id_for_distribution_column('event', merchant_id) order by min(position)`,
};

const lockShard: Statement = {
  name: 'relay.lock_shard',
  text: `select count(*)::int as count from (
      select 1 from event where event.merchant_id = any ($1::uuid[])
        and event.sequence is null and ${notDeadLetter(task, 'event.merchant_id and dead_letter.merchant_id = any ($1::uuid[])', 'event.id::text')}
      order by position limit $2 for update) as held`,
};

const findShards = (client: pg.PoolClient, limit: number): Promise<WaitingShard[]> =>
  run<WaitingShard>(client, waitingShards, [limit]);

/**
 * Waits until no other session numbers events: the previous relay's coordinator may have been lost
 * between the two phases of a commit, which Citus ends later.
 */
const awaitEarlierNumbers = async (client: pg.PoolClient): Promise<void> => {
  for (const { merchantIds } of await findShards(client, batch_max))
    await run(client, lockShard, [merchantIds, batch_max]);
};

/** Numbering, as `numberAtOnce` does it in one database. */
const numberByShard =
  (client: pg.PoolClient): NumberEvents =>
  async (limit) => {
    const batches: Omit<Batch, 'isFull'>[] = [];
    let found = 0;
    for (const { merchantIds, count } of await findShards(client, limit)) {
      found += count;
      try {
        const numbers = await drawNumbers(client, 'event_sequence_seq', count);
        const rows = await run<NumberedRow>(client, numberShard, [
          merchantIds,
          count,
          numbers,
          namedWebhookEvents,
        ]);
        const last = rows.at(-1)?.sequence;
        if (last !== undefined) batches.push(batchOf(rows, last));
      } catch (error) {
        // What is numbered is announced; the next batch begins with what failed.
        if (batches.length === 0) throw error;
        break;
      }
    }
    const last = batches.at(-1)?.last;
    return last === undefined
      ? null
      : {
          isFull: found === limit,
          last,
          lanes: batches.flatMap(({ lanes }) => lanes),
          consumers: batches.flatMap(({ consumers }) => consumers),
          events: batches.flatMap(({ events }) => events),
        };
  };

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

/** How long stream-only events wait for others of the same payment. */
const soon_ms = 4;

/** Wakes the relay at once, or soon; an immediate wake-up includes a scheduled one. */
export const openWake = ({ bus, log }: Pick<RelayDeps, 'bus' | 'log'>): WakeRelay => {
  let waiting: NodeJS.Timeout | null = null;
  const wake = (): void => {
    if (waiting !== null) clearTimeout(waiting);
    waiting = null;
    bus
      .publish('outbox', null)
      .catch((error: unknown) => log.warn({ error }, 'could not wake the relay; it will poll'));
  };
  return (urgency = 'at once') => {
    if (urgency === 'at once') wake();
    else waiting ??= setTimeout(wake, soon_ms);
  };
};

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
