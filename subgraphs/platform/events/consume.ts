/**
 * Consumes the event log by its sequence, each event once: the consumer's offset moves in the
 * transaction of the effects, under the lock of its row. The relay numbers events in their order
 * (`platform/events/relay`), so that no smaller number appears behind one that was seen.
 */
import { raw, type InferEntity } from '@mikro-orm/core';
import type pg from 'pg';
import { isPassing, reportDeadLetter } from '../alerts/dead-letters.ts';
import { ConsumerOffsetEntity, ConsumerRetryEntity, EventEntity } from '../database/entities.ts';
import { emOn } from '../database/orm-connections.ts';
import { inTransaction, type Runner } from '../database/statement.ts';
import type { Consumer } from '../../rules/event.ts';

type ConsumerRetry = InferEntity<typeof ConsumerRetryEntity>;

/** An event that its consumer must process. */
export interface ConsumedEvent {
  readonly sequence: bigint;
  readonly merchantId: string;
  /** The payment, payout or refund. */
  readonly subjectId: string;
}

/** Events that wait for a consumer, and the offset after which they were found. */
export interface ConsumerBatch {
  readonly consumer: Consumer;
  readonly offset: bigint;
  readonly events: readonly ConsumedEvent[];
}

/** The next events of a consumer, oldest first, up to `max`. */
export const readBatch = async (
  runner: Runner,
  consumer: Consumer,
  max: number,
): Promise<ConsumerBatch> => {
  const { sequence: offset } = await emOn(runner).findOneOrFail(ConsumerOffsetEntity, { consumer });
  const events = await emOn(runner).find(
    EventEntity,
    { consumer, sequence: { $gt: offset } },
    { fields: ['sequence', 'subjectId'], orderBy: { sequence: 'asc' }, limit: max },
  );
  return {
    consumer,
    offset,
    events: events.flatMap(({ sequence, merchantId, subjectId }) =>
      sequence ? { sequence, merchantId, subjectId } : [],
    ),
  };
};

/** How a consumer processes its events. */
interface Consuming {
  readonly pool: pg.Pool;
  readonly consumer: Consumer;
  /** The task that an alert names. */
  readonly task: string;
  /** Prepares the effects, which take place in the transaction that moves the offset. */
  readonly effectsOf: (
    events: readonly ConsumedEvent[],
  ) => Promise<(client: pg.PoolClient) => Promise<void>>;
  /** Is told of an event that failed alone. */
  readonly failed?: (event: ConsumedEvent, error: unknown) => void;
}

/**
 * Carries out the effects of events and moves the offset past them, in one transaction. False, with
 * no effect, when another process has consumed them meanwhile.
 */
export const consumeBatch = (
  pool: pg.Pool,
  { consumer, offset, events }: ConsumerBatch,
  effects: (client: pg.PoolClient) => Promise<void>,
): Promise<boolean> => {
  const last = events.at(-1)?.sequence ?? offset;
  return inTransaction(pool, async (client) => {
    const place = { consumer, sequence: offset };
    const moved = await emOn(client).nativeUpdate(ConsumerOffsetEntity, place, { sequence: last });
    if (moved > 0) await effects(client);
    return moved > 0;
  });
};

/**
 * Stores an event whose effects failed for a retry, and moves the offset past it. False when
 * another process has consumed it meanwhile.
 */
const retryLater = (pool: pg.Pool, batch: ConsumerBatch, event: ConsumedEvent): Promise<boolean> =>
  consumeBatch(pool, { ...batch, events: [event] }, async (client) => {
    const { merchantId, sequence, subjectId } = event;
    const key = { merchantId, consumer: batch.consumer, sequence };
    const dueAt = raw(`now() + interval '1 second'`);
    await emOn(client).insert(ConsumerRetryEntity, { ...key, subjectId, tries: 1, dueAt });
  });

/**
 * Consumes a batch; returns the number of events. A failing batch is reduced until its first event
 * is consumed alone. An event that fails alone is stored for a retry, and blocks no other. Rejects
 * when the database or what the effects need is unavailable; nothing is lost.
 */
export const consumeNext = async (
  { pool, task, effectsOf, failed }: Consuming,
  batch: ConsumerBatch,
): Promise<number> => {
  const [first] = batch.events;
  if (!first) return 0;
  for (let size = batch.events.length; ; size = Math.max(1, Math.floor(size / 4))) {
    const events = batch.events.slice(0, size);
    try {
      await consumeBatch(pool, { ...batch, events }, await effectsOf(events));
      return size;
    } catch (error) {
      if (isPassing(error)) throw error;
      if (size > 1) continue;
      failed?.(first, error);
      if (await retryLater(pool, batch, first)) await reportDeadLetter(pool, task, first, error);
      return 1;
    }
  }
};

/** After the first delay of a second, each is twice the previous one, up to an hour. */
const pause_max_s = 3_600;

/**
 * Carries out the effects of an event that waits for a retry, once. When they fail again, it
 * postpones the retry and rejects.
 */
const consumeRetry = async (
  pool: pg.Pool,
  { merchantId, consumer, sequence, tries }: ConsumerRetry,
  effects: (client: pg.PoolClient) => Promise<void>,
): Promise<void> => {
  const key = { merchantId, consumer, sequence };
  try {
    await inTransaction(pool, async (client) => {
      const deleted = await emOn(client).nativeDelete(ConsumerRetryEntity, key);
      if (deleted > 0) await effects(client);
    });
  } catch (error) {
    const dueAt = Temporal.Now.instant().add({ seconds: Math.min(2 ** tries, pause_max_s) });
    await emOn(pool).nativeUpdate(ConsumerRetryEntity, key, { tries: tries + 1, dueAt });
    throw error;
  }
};

/** Retries the events that are due, longest due first, up to `max`; gives how many were consumed. */
export const consumeRetries = async (
  { pool, consumer, task, effectsOf, failed }: Consuming,
  max: number,
): Promise<number> => {
  let consumed = 0;
  const due = await emOn(pool).find(
    ConsumerRetryEntity,
    { consumer, dueAt: { $lte: raw('now()') } },
    { orderBy: { dueAt: 'asc' }, limit: max },
  );
  for (const event of due) {
    try {
      await consumeRetry(pool, event, async (client) => (await effectsOf([event]))(client));
      consumed += 1;
    } catch (error) {
      if (isPassing(error)) throw error;
      failed?.(event, error);
      await reportDeadLetter(pool, task, event, error);
    }
  }
  return consumed;
};
