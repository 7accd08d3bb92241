/**
 * Consumes the events of payments that recurring billing requested. Each event takes effect once,
 * in the transaction that moves the offset (`platform/events/consume`). Handlers receive the current
 * payment, which may be newer than the event, so they must accept the same state again. The
 * offset's row lock admits one process at a time; the others find nothing left.
 */
import type pg from 'pg';
import {
  consumeRetry,
  consumeBatch,
  isWaiting,
  readRetries,
  readBatch,
  retryLater,
  type ConsumedEvent,
  type ConsumerBatch,
} from '../platform/events/consume.ts';
import { isPassing, reportDeadLetter } from '../platform/alerts/dead-letters.ts';
import { WakeSignal } from '../platform/queue/run-job.ts';
import type { Logger } from '../platform/tracing/telemetry.ts';
import type { Payments, RecurringPayment } from './ask-payments.ts';

/**
 * A handler of moved payments: it receives each current payment once, on the client of the
 * consumer's transaction. A payment may be unchanged for it; it must then change nothing. It makes
 * no calls outside the database.
 */
export type OnPaymentsMoved = (
  client: pg.PoolClient,
  payments: readonly RecurringPayment[],
  now: Temporal.Instant,
) => Promise<void>;

interface ConsumerDeps {
  readonly pool: pg.Pool;
  readonly payments: Pick<Payments, 'read'>;
  /** Called in this order. */
  readonly listeners: readonly OnPaymentsMoved[];
  readonly now: () => Temporal.Instant;
  readonly log: Logger;
}

const batch_max = 200;
/** How soon the log is read again without a wake-up, which may be lost, and after a failure. */
const poll_ms = 3_000;

/** The effects of events, on payments as they are now. */
const effectsOf = async (
  { payments, listeners, now }: ConsumerDeps,
  events: readonly ConsumedEvent[],
) => {
  const keys = new Map(
    events.map(({ merchantId, subjectId }) => [
      `${merchantId}/${subjectId}`,
      { merchantId, id: subjectId },
    ]),
  );
  const read = (await payments.read([...keys.values()])).filter((payment) => payment !== null);
  return async (client: pg.PoolClient): Promise<void> => {
    for (const listener of listeners) await listener(client, read, now());
  };
};

/** Consumes only the first event; if its handlers fail, it is stored for a retry. */
const consumeFirst = async (
  deps: ConsumerDeps,
  batch: ConsumerBatch,
  first: ConsumedEvent,
): Promise<void> => {
  try {
    await consumeBatch(deps.pool, { ...batch, events: [first] }, await effectsOf(deps, [first]));
  } catch (error) {
    if (isPassing(error)) throw error;
    deps.log.error(
      { err: error, merchantId: first.merchantId, paymentId: first.subjectId },
      'could not consume a payment event; it will be retried later',
    );
    if (await retryLater(deps.pool, batch, first))
      await reportDeadLetter(deps.pool, task, first, error);
  }
};

/** The task that an alert names. */
const task = 'follow-payments';

/**
 * Consumes pending events, up to a batch; returns their number. A failing batch is reduced until
 * its first event is consumed alone. An event that fails alone is stored for a retry, and blocks no
 * other. Rejects when payments or the database are unavailable; nothing is lost.
 */
export const consumePayments = async (deps: ConsumerDeps): Promise<number> => {
  const batch = await readBatch(deps.pool, 'recurring', batch_max);
  const [first] = batch.events;
  if (!first) return 0;
  for (let size = batch.events.length; size > 1; size = Math.floor(size / 4)) {
    const events = batch.events.slice(0, size);
    try {
      await consumeBatch(deps.pool, { ...batch, events }, await effectsOf(deps, events));
      return size;
    } catch (error) {
      if (isPassing(error)) throw error;
    }
  }
  await consumeFirst(deps, batch, first);
  return 1;
};

/** Retries the events that are due; gives how many were consumed. */
export const retryPayments = async (deps: ConsumerDeps): Promise<number> => {
  let consumed = 0;
  for (const event of await readRetries(deps.pool, 'recurring', batch_max)) {
    try {
      await consumeRetry(deps.pool, 'recurring', event, async (client) =>
        (await effectsOf(deps, [event]))(client),
      );
      consumed += 1;
    } catch (error) {
      deps.log.error(
        { err: error, merchantId: event.merchantId, paymentId: event.subjectId },
        'a payment event failed again',
      );
    }
  }
  return consumed;
};

export interface RunningConsumer {
  /** Notifies it of newly numbered events. */
  wake(): void;
  /** Ends after the batch in progress. */
  stop(): Promise<void>;
}

/** Consumes until it is stopped: at once when woken, and at least every few seconds. */
export const startConsuming = (deps: ConsumerDeps): RunningConsumer => {
  const stopping = new AbortController();
  const wakeSignal = new WakeSignal();
  const ended = (async () => {
    while (!stopping.signal.aborted) {
      try {
        if (await isWaiting(deps.pool, 'recurring')) {
          if ((await consumePayments(deps)) > 0) continue;
          await retryPayments(deps);
        }
      } catch (error) {
        deps.log.error({ err: error }, 'could not consume payment events; retrying');
      }
      await wakeSignal.wait(poll_ms);
    }
  })();
  return {
    wake: () => wakeSignal.wake(),
    stop: async () => {
      stopping.abort();
      wakeSignal.wake();
      await ended;
    },
  };
};
