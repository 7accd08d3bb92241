/**
 * Numbers the events of the outbox: one statement gives a batch its numbers, in the order of
 * writing, and makes its webhook deliveries.
 */
import type pg from 'pg';
import { rfc3339 } from '../../../schema/rfc3339.ts';
import {
  namedWebhookEvents,
  type Consumer,
  type LiveKind,
  type StreamedEvent,
} from '../../rules/event.ts';
import type { Mode } from '../../rules/mode.ts';
import { isNoDeadLetter, notDeadLetter, workBatch, type Subject } from '../alerts/dead-letters.ts';
import type { WebhookLane } from '../bus/bus.ts';
import { EventEntity } from '../database/entities.ts';
import { emOn } from '../database/orm-connections.ts';
import { drawNumbers, sqlFile } from '../database/sql-file.ts';
import { run, type Runner, type Statement } from '../database/statement.ts';

/** Events of one batch. */
const batch_max = 500;

export interface Batch {
  readonly isFull: boolean;
  /** The highest number assigned so far. */
  readonly last: bigint;
  readonly lanes: readonly WebhookLane[];
  readonly consumers: readonly Consumer[];
  readonly events: readonly StreamedEvent[];
}

/** Numbers up to so many of the oldest events and makes their deliveries; null when none waits. */
export type NumberEvents = (limit: number) => Promise<Batch | null>;

/**
 * One batch; null when the outbox is empty. An event that makes its batch fail is set aside, and
 * gets a later number when it does not any more.
 */
export const numberBatch = async (
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
export const newestNumber = async (client: pg.PoolClient): Promise<bigint> => {
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
export const awaitEarlierNumbers = async (client: pg.PoolClient): Promise<void> => {
  for (const { merchantIds } of await findShards(client, batch_max))
    await run(client, lockShard, [merchantIds, batch_max]);
};

/** Numbering, as `numberAtOnce` does it in one database. */
export const numberByShard =
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
