/**
 * Follows what becomes of the payments that recurring billing asked for. Each event has its effects
 * once, in the transaction that moves the position (`kernel/events/consume`); they receive the
 * payment as it is by then, which may be further than the event, so that an effect must bear to be
 * given the same again. One process follows at a time, by the position's row; the others find
 * nothing left.
 */
import type pg from 'pg';
import {
  followSetAside,
  followWaiting,
  readSetAside,
  readWaiting,
  setAside,
  type FollowedEvent,
  type Waiting,
} from '../kernel/events/consume.ts';
import { isPassing, reportSetAside } from '../kernel/alerts/set-aside.ts';
import { WakeSignal } from '../kernel/queue/wake-signal.ts';
import type { Bus } from '../kernel/service/bus.ts';
import type { Logger } from '../kernel/service/tracing/telemetry.ts';
import type { Payments, RecurringPayment } from './ask-payments.ts';

/**
 * What a part of recurring billing does when payments have moved: each payment once in the list, as
 * it is now, on the client of the follower's transaction. It may receive a payment that has not
 * changed for it, and must then change nothing. It calls nobody outside the database.
 */
export type OnPaymentsMoved = (
  client: pg.PoolClient,
  payments: readonly RecurringPayment[],
  now: Temporal.Instant,
) => Promise<void>;

export interface FollowParts {
  readonly pool: pg.Pool;
  readonly payments: Pick<Payments, 'read'>;
  /** Called in this order. */
  readonly listeners: readonly OnPaymentsMoved[];
  readonly now: () => Temporal.Instant;
  readonly log: Logger;
}

const batch_max = 200;
/** How soon the log is looked at again when nobody rings, and after a failure. */
const poll_ms = 1_000;

/** The effects of events, on payments as they are now. */
const effectsOf = async (
  { payments, listeners, now }: FollowParts,
  events: readonly FollowedEvent[],
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

/** Follows the first event alone; when its effects fail it is set aside. */
const followFirst = async (
  parts: FollowParts,
  waiting: Waiting,
  first: FollowedEvent,
): Promise<void> => {
  try {
    await followWaiting(
      parts.pool,
      { ...waiting, events: [first] },
      await effectsOf(parts, [first]),
    );
  } catch (error) {
    if (isPassing(error)) throw error;
    parts.log.error(
      { err: error, merchantId: first.merchantId, paymentId: first.subjectId },
      'a payment could not be followed; it is tried again later',
    );
    if (await setAside(parts.pool, waiting, first))
      await reportSetAside(parts.pool, task, first, error);
  }
};

/** The task that an alert names. */
const task = 'follow-payments';

/**
 * Follows the events that wait, up to a batch; gives how many there were. A batch that fails is
 * made smaller, until its first event is followed alone, and set aside when it was that one: it is
 * tried again by itself, and holds nobody back. Rejects when payments or the database are away;
 * nothing is lost then.
 */
export const followPayments = async (parts: FollowParts): Promise<number> => {
  const waiting = await readWaiting(parts.pool, 'recurring', batch_max);
  const [first] = waiting.events;
  if (!first) return 0;
  for (let size = waiting.events.length; size > 1; size = Math.floor(size / 4)) {
    const events = waiting.events.slice(0, size);
    try {
      await followWaiting(parts.pool, { ...waiting, events }, await effectsOf(parts, events));
      return size;
    } catch (error) {
      if (isPassing(error)) throw error;
    }
  }
  await followFirst(parts, waiting, first);
  return 1;
};

/** Tries events again that were set aside and are due; gives how many were followed. */
export const followSetAsidePayments = async (parts: FollowParts): Promise<number> => {
  let followed = 0;
  for (const event of await readSetAside(parts.pool, 'recurring', batch_max)) {
    try {
      await followSetAside(parts.pool, 'recurring', event, async (client) =>
        (await effectsOf(parts, [event]))(client),
      );
      followed += 1;
    } catch (error) {
      parts.log.error(
        { err: error, merchantId: event.merchantId, paymentId: event.subjectId },
        'a payment could not be followed again',
      );
    }
  }
  return followed;
};

export interface Following {
  /** Ends after the batch in progress. */
  stop(): Promise<void>;
}

/**
 * Follows until it is stopped: at once when the bus announces events, and once a second in any
 * case.
 */
export const startFollowing = (
  parts: FollowParts & { readonly bus: Pick<Bus, 'subscribe'> },
): Following => {
  const stopping = new AbortController();
  const wakeSignal = new WakeSignal();
  const unsubscribe = parts.bus.subscribe('events', () => wakeSignal.wake());
  const ended = (async () => {
    while (!stopping.signal.aborted) {
      try {
        if ((await followPayments(parts)) > 0) continue;
        await followSetAsidePayments(parts);
      } catch (error) {
        parts.log.error({ err: error }, 'payments could not be followed; it is tried again');
      }
      await wakeSignal.wait(poll_ms);
    }
  })();
  return {
    stop: async () => {
      unsubscribe();
      stopping.abort();
      wakeSignal.wake();
      await ended;
    },
  };
};
