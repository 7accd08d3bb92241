/**
 * The bus: best-effort messages between all processes, over Redis when there is one, else over
 * LISTEN/NOTIFY. A message is a hint (docs/architecture.md#invariants). Messages sent while a
 * process is disconnected are not repeated; a reader that must not miss anything reads PostgreSQL.
 */
import { randomUUID } from 'node:crypto';
import {
  isTopic,
  readMessage,
  topicNames,
  type Bus,
  type BusMessages,
  type BusTopic,
} from '../bus/bus.ts';
import { errorCode } from '../tracing/error-code.ts';
import type { Logger } from '../tracing/telemetry.ts';
import {
  openPostgresTransport,
  openRedisTransport,
  type TransportOptions,
} from './bus-transports.ts';

interface BusOptions {
  /** Null: PostgreSQL. It must be reached directly, not through a pooler that shares sessions. */
  readonly redisUrl: string | null;
  readonly databaseUrl: string;
  readonly log: Logger;
}

type Listeners = { readonly [Topic in BusTopic]: Set<(message: BusMessages[Topic]) => void> };

// One line in the log when something that we depend on is lost, and one when it is back, however
// many calls fail in between.

/** A server that goes down still answers some calls while it refuses others. */
const settle_ms = 1_000;

/**
 * PostgreSQL reported a conflict with other transactions (class 40, with deadlocks): it is
 * available.
 */
const isConflict = (error: unknown): boolean =>
  error instanceof Error && (errorCode(error).startsWith('40') || isConflict(error.cause));

/** Watches what is named `what`, and calls `onReturn` each time it is back. */
export const watchOutage = (what: string, log: Logger, onReturn: () => void = () => {}) => {
  let since: number | null = null;
  let failures = 0;
  let settling: NodeJS.Timeout | null = null;
  let silent = false;
  const unsettle = (): void => {
    if (settling) clearTimeout(settling);
    settling = null;
  };
  const over = (): void => {
    if (since !== null) log.info({ lost_ms: Date.now() - since, failures }, `the ${what} is back`);
    since = null;
    failures = 0;
    settling = null;
    onReturn();
  };
  return {
    /**
     * A call failed because the other side is unavailable. The first failure is logged. A conflict
     * does not count: the other side has answered.
     */
    began: (error: unknown): void => {
      if (silent || isConflict(error)) return;
      unsettle();
      failures += 1;
      if (since !== null) return;
      since = Date.now();
      log.error({ err: error }, `the ${what} is lost; trying until it is back`);
    },
    /**
     * A call was answered. When no other fails in the second that follows, the outage is over, and
     * that is logged.
     */
    ended: (): void => {
      if (since !== null && !silent) settling ??= setTimeout(over, settle_ms).unref();
    },
    /** We are closing: further failures are expected. */
    silence: (): void => {
      silent = true;
      unsettle();
    },
  };
};

export type Outage = ReturnType<typeof watchOutage>;

/**
 * Opens the bus: resolves when this process is subscribed to every topic. Messages of one process
 * arrive in the order of `publish`, each once. This process receives its own at once, even while
 * the bus is away: when the call returns, a change must hold here. `publish` never rejects: while
 * the bus is away its messages are dropped; the log reports once that it is lost and once that it
 * is back. Rejects when the other side does not answer for 30 seconds.
 */
export const openBus = async ({
  redisUrl,
  databaseUrl,
  log,
}: BusOptions): Promise<Bus & { close(): Promise<void> }> => {
  const listeners = noListeners();
  /** A listener that throws, at once or later, does not affect the other listeners or the bus. */
  const deliver = <Topic extends BusTopic>(topic: Topic, message: BusMessages[Topic]): void => {
    for (const listener of listeners[topic])
      (async () => listener(message))().catch((error: unknown) =>
        log.error({ topic, err: error }, 'a listener of the bus failed'),
      );
  };
  const receive = (topic: BusTopic, text: string): void => {
    try {
      deliver(topic, readMessage(topic, text));
    } catch (error) {
      log.warn({ topic, err: error }, 'invalid bus message');
    }
  };
  const outage = watchOutage('bus', log);
  const sender = randomUUID();
  const options: TransportOptions = {
    channels: topicNames.map(channelOf),
    receive: (channel, text) => {
      const topic = channel.slice(channelPrefix.length);
      const [from, message] = splitAt(text, text.indexOf(' '));
      if (isTopic(topic) && from !== sender) receive(topic, message);
    },
    began: outage.began,
    ended: outage.ended,
  };
  const transport = await (redisUrl
    ? openRedisTransport(redisUrl, options)
    : openPostgresTransport(databaseUrl, options));
  return {
    publish: async (topic, message) => {
      const isInOrder = topic === inOrder;
      if (!isInOrder) deliver(topic, message);
      // Only the relay listens to this: if it runs here, no other process listens.
      if (topic === 'outbox' && listeners.outbox.size > 0) return;
      const text = `${isInOrder ? '' : sender} ${JSON.stringify(message)}`;
      await transport.send(channelOf(topic), text).then(outage.ended, outage.began);
    },
    subscribe: (topic, listener) => {
      listeners[topic].add(listener);
      return () => void listeners[topic].delete(listener);
    },
    close: async () => {
      outage.silence();
      await transport.close();
    },
  };
};

/**
 * Every process receives this topic in the same order, including its own messages: all must know
 * which of two streams is newer.
 */
const inOrder: BusTopic = 'streams';

const splitAt = (text: string, place: number): readonly [string, string] => [
  text.slice(0, place),
  text.slice(place + 1),
];

/** No topic has a listener yet. */
const noListeners = (): Listeners =>
  Object.fromEntries(topicNames.map((topic) => [topic, new Set()])) as Listeners;

/** Also begins the name after LISTEN. */
const channelPrefix = 'payments_bus_';
const channelOf = (topic: string): string => `${channelPrefix}${topic}`;
