/**
 * Follows what becomes of the payments that recurring billing asked for. Each event has its effects once, in the transaction that moves the position
 * (`kernel/database/follow`); they are told of the payment as it is by then, which may be further than the event, so that an effect must bear to be told the
 * same again. One process follows at a time, by the position's row; the others find nothing left.
 */
import type pg from 'pg';
import { followWaiting, readWaiting, type Waiting } from '../kernel/database/follow.ts';
import { Bell } from '../kernel/queue/bell.ts';
import type { Bus } from '../kernel/rules/event.ts';
import type { Logger } from '../kernel/service/telemetry.ts';
import type { Payments, RecurringPayment } from './ask-payments.ts';

/**
 * What a part of recurring billing does when payments have moved: each payment once in the list, as it is now, on the client of the follower's transaction.
 * It may be told of a payment that has not changed for it, and must then change nothing. It calls nobody outside the database.
 */
export type OnPaymentsMoved = (client: pg.PoolClient, payments: readonly RecurringPayment[], now: Temporal.Instant) => Promise<void>;

export interface FollowParts {
  readonly pool: pg.Pool;
  readonly payments: Pick<Payments, 'read'>;
  /** Told in this order. */
  readonly listeners: readonly OnPaymentsMoved[];
  readonly now: () => Temporal.Instant;
}

const batch_max = 200;
/** How soon the log is looked at again when nobody rings, and after a failure. */
const poll_ms = 1_000;

const follow = async ({ pool, payments, listeners, now }: FollowParts, waiting: Waiting): Promise<boolean> => {
  const keys = new Map(waiting.events.map(({ merchantId, subjectId }) => [`${merchantId}/${subjectId}`, { merchantId, id: subjectId }]));
  const read = (await payments.read([...keys.values()])).filter((payment) => payment !== null);
  return followWaiting(pool, waiting, async (client) => {
    for (const listener of listeners) await listener(client, read, now());
  });
};

/**
 * Follows the events that wait, up to a batch; gives how many there were. When a batch fails its events are followed one by one, so that the failure is
 * that of one event; it rejects with that, and everything before it has been followed.
 */
export const followPayments = async (parts: FollowParts): Promise<number> => {
  const waiting = await readWaiting(parts.pool, 'recurring', batch_max);
  if (waiting.events.length === 0) return 0;
  try {
    await follow(parts, waiting);
  } catch (error) {
    const [first] = waiting.events;
    if (!first || waiting.events.length === 1) throw error;
    await follow(parts, { ...waiting, events: [first] });
  }
  return waiting.events.length;
};

export interface Following {
  /** Ends after the batch in progress. */
  stop(): Promise<void>;
}

/** Follows until it is stopped: at once when the bus tells of events, and once a second in any case. */
export const startFollowing = (parts: FollowParts & { readonly bus: Pick<Bus, 'subscribe'>; readonly log: Logger }): Following => {
  const stopping = new AbortController();
  const bell = new Bell();
  const unsubscribe = parts.bus.subscribe('events', () => bell.ring());
  const ended = (async () => {
    while (!stopping.signal.aborted) {
      try {
        if ((await followPayments(parts)) > 0) continue;
      } catch (error) {
        parts.log.error({ err: error }, 'payments could not be followed; it is tried again');
      }
      await bell.wait(poll_ms);
    }
  })();
  return {
    stop: async () => {
      unsubscribe();
      stopping.abort();
      bell.ring();
      await ended;
    },
  };
};
