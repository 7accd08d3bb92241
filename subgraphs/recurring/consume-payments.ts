/**
 * Consumes the events of payments that recurring billing requested. Each event takes effect once,
 * in the transaction that moves the offset (`platform/events/consume`). Handlers receive the current
 * payment, which may be newer than the event, so they must accept the same state again. The
 * offset's row lock admits one process at a time; the others find nothing left.
 */
import type pg from 'pg';
import {
  consumeNext,
  consumeRetries,
  readBatch,
  type ConsumedEvent,
} from '../platform/events/consume.ts';
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

const consumingOf = (deps: ConsumerDeps) =>
  ({
    pool: deps.pool,
    consumer: 'recurring',
    task: 'follow-payments',
    effectsOf: (events: readonly ConsumedEvent[]) => effectsOf(deps, events),
    failed: ({ merchantId, subjectId: paymentId }: ConsumedEvent, error: unknown) =>
      deps.log.error(
        { err: error, merchantId, paymentId },
        'could not consume a payment event; it will be retried later',
      ),
  }) as const;

/** Consumes pending events, up to a batch; returns their number. */
export const consumePayments = async (deps: ConsumerDeps): Promise<number> =>
  consumeNext(consumingOf(deps), await readBatch(deps.pool, 'recurring', batch_max));

/** Retries the events that are due; gives how many were consumed. */
export const retryPayments = (deps: ConsumerDeps): Promise<number> =>
  consumeRetries(consumingOf(deps), batch_max);

/** Consumes until it is stopped: at once when woken, and at least every few seconds. */
export const startConsuming = (deps: ConsumerDeps) => {
  const stopping = new AbortController();
  const wakeSignal = new WakeSignal();
  const ended = (async () => {
    while (!stopping.signal.aborted) {
      try {
        if ((await consumePayments(deps)) > 0) continue;
        await retryPayments(deps);
      } catch (error) {
        deps.log.error({ err: error }, 'could not consume payment events; retrying');
      }
      await wakeSignal.wait(poll_ms);
    }
  })();
  return {
    /** Notifies it of newly numbered events. */
    wake: () => wakeSignal.wake(),
    /** Ends after the batch in progress. */
    stop: async () => {
      stopping.abort();
      wakeSignal.wake();
      await ended;
    },
  };
};
