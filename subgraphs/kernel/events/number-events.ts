/**
 * Numbering the events of the outbox: a batch of them gets its numbers, in the order of writing,
 * and its webhook deliveries, by one statement.
 */
import type pg from 'pg';
import { rfc3339 } from '../../../schema/rfc3339.ts';
import { notSetAside, workBatch, type Subject } from '../alerts/set-aside.ts';
import { run, type Statement } from '../database/statement.ts';
import type { Consumer } from '../rules/consumer.ts';
import type { StreamedEvent, LiveKind } from '../rules/event.ts';
import type { Mode } from '../rules/mode.ts';

/** Events of one batch. */
export const batch_max = 500;

export interface HandoverTerms {
  /** How many may be handed over at most. */
  readonly room: number;
  /** For how long they are leased. */
  readonly lease_ms: number;
  readonly now: Temporal.Instant;
  /** The merchants of whom no more are taken. */
  readonly full: readonly string[];
}

/** Takes over deliveries with the statement that makes them. */
export interface Handover {
  ask(): HandoverTerms;
  /** Takes over the rows of the part `handed`; they are committed. */
  take(handed: readonly unknown[]): void;
}

/** Events that have just been numbered. */
export interface Batch {
  readonly isFull: boolean;
  /** The highest number that was given. */
  readonly last: bigint;
  readonly lanes: readonly string[];
  readonly handed: readonly unknown[];
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
    first: async () => (await run<Subject>(client, oldestWaiting, []))[0] ?? null,
  });
  return result;
};

/** Numbering in one database: one statement for the events of all merchants. */
export const numberAtOnce = (
  client: pg.PoolClient,
  deliveriesOf: (events: string) => string,
  handover?: Handover,
): NumberEvents => {
  const numberOldest = numbering(deliveriesOf);
  // Where something fails, the deliveries are only made.
  return (limit) =>
    relayEvents(client, numberOldest, limit, limit === batch_max ? handover : undefined);
};

const noHandover = { room: 0, lease_ms: 0, now: null, full: [] };

/** Numbers up to so many events and makes their deliveries, in one statement. */
const relayEvents = async (
  client: pg.PoolClient,
  numberOldest: Statement,
  limit: number,
  handover?: Handover,
): Promise<Batch | null> => {
  const { room, lease_ms, now, full } = handover?.ask() ?? noHandover;
  const rows = await run<NumberedRow>(client, numberOldest, [limit, room, lease_ms, now, full]);
  const last = rows.at(-1)?.sequence;
  return last === undefined ? null : { ...batchOf(rows, last), isFull: rows.length === limit };
};

/** What a statement that has numbered events gives, in the order of the numbers up to `last`. */
export const batchOf = (rows: readonly NumberedRow[], last: bigint): Omit<Batch, 'isFull'> => {
  const lanes = rows[0]?.lanes ?? [];
  const handed = rows[0]?.handed ?? [];
  const consumers = rows.flatMap(({ consumer }) => consumer ?? []);
  return { last, lanes, handed, consumers, events: rows.flatMap(streamed) };
};

/** Where the stream stands: nobody else gives numbers while this session holds the lock. */
export const newestNumber = async (client: pg.PoolClient): Promise<bigint> => {
  const [row] = await run<{ newest: bigint | null }>(client, newestSequence, []);
  return row?.newest ?? 0n;
};

/** An event that has just been numbered. */
export interface NumberedRow {
  readonly sequence: bigint;
  readonly kind: LiveKind | null;
  readonly merchantId: string;
  readonly shopId: string;
  readonly mode: Mode;
  readonly subjectId: string;
  readonly at: Temporal.Instant;
  readonly payload: Record<string, unknown> | null;
  readonly consumer: Consumer | null;
  /** Of the first row: the lanes that have something new, of the whole batch. */
  readonly lanes: readonly string[] | null;
  /** Of the first row: what is handed over, of the whole batch. */
  readonly handed: readonly unknown[] | null;
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
/** SQL: an event waits for its number; `merchant` is its merchant, by which it is set aside. */
export const inOutboxOf = (merchant: string): string =>
  `event.sequence is null and ${notSetAside(task, merchant, 'event.id::text')}`;
const inOutbox = inOutboxOf('event.merchant_id');

const oldestWaiting = {
  name: 'relay.oldest_waiting',
  text: `select merchant_id as "merchantId", id::text as "subjectId" from event where ${inOutbox} order by position limit 1`,
};

/** SQL: the columns of a numbered row but for its lanes and what is handed over. */
export const numberedColumns = `sequence, stream_kind as kind, merchant_id as "merchantId",
      shop_id as "shopId", mode, subject_id as "subjectId", created_at as at, payload, follower as consumer`;

/**
 * The statement that numbers the oldest events; `deliveriesOf` is that of the relay's parts. The
 * inner limit fixes the order before `nextval` is called, so the numbers ascend in the order of
 * writing.
 */
const numbering = (deliveriesOf: (events: string) => string): Statement => ({
  name: 'relay.number_oldest',
  text: `
    with batch as materialized (
      select merchant_id, id, created_at, nextval('event_sequence_seq') as sequence
      from (select merchant_id, id, created_at from event where ${inOutbox} order by position limit $1) as oldest
    ), numbered as (
      update event set sequence = batch.sequence from batch where event.merchant_id = batch.merchant_id and event.id = batch.id
        and event.created_at = batch.created_at
      returning event.*
    ), ${deliveriesOf('numbered')}
    select ${numberedColumns},
      case when row_number() over (order by sequence) = 1 then (select array_agg(distinct lane) from made) end as lanes,
      case when row_number() over (order by sequence) = 1 then (select json_agg(to_json(handed) order by handed_at) from handed) end as handed
    from numbered order by sequence`,
});
