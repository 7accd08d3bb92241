/**
 * The bus: best-effort messages between all processes, over Redis when there is one, else over
 * LISTEN/NOTIFY. Invariant 1 of ARCHITECTURE.md: a message is a hint. What was sent while a process
 * was not connected is not sent again, and who must not miss anything looks in PostgreSQL.
 */
import type { Bus, BusMessages, BusTopic } from '../rules/event.ts';
import type { Logger } from '../service/tracing/telemetry.ts';
import { isTopic, readMessage, topicNames, writeMessage } from './bus-message.ts';
import { openPostgresWire } from './bus-postgres.ts';
import { openRedisWire } from './bus-redis.ts';
import { watchOutage } from './outage.ts';

/** What carries texts to every process that has it open, this one too. */
export interface Wire {
  /** Fulfils when the text is on its way, rejects when it is not. */
  readonly send: (channel: string, text: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface WireOptions {
  readonly channels: readonly string[];
  readonly hear: (channel: string, text: string) => void;
  readonly began: (error: unknown) => void;
  readonly ended: () => void;
}

export interface BusOptions {
  /** Null: PostgreSQL. It must be reached directly, not through a pooler that shares sessions. */
  readonly redisUrl: string | null;
  readonly databaseUrl: string;
  readonly log: Logger;
}

interface Ear<Topic extends BusTopic> {
  readonly listeners: Set<(message: BusMessages[Topic]) => void>;
  readonly hear: (text: string) => void;
}
type Ears = { readonly [Topic in BusTopic]: Ear<Topic> };

/**
 * Opens the bus: fulfils when this process hears every topic. Messages of one process arrive in the
 * order of `publish`, its own too, each once; what only says that something must be forgotten is
 * heard here before `publish` fulfils, even while the bus is away, and once more with the others.
 * `publish` never rejects: while the bus is away its messages are dropped, and the log says once
 * that it is lost and once that it is back. Rejects when the other side does not answer for 30
 * seconds.
 */
export const openBus = async ({
  redisUrl,
  databaseUrl,
  log,
}: BusOptions): Promise<Bus & { close(): Promise<void> }> => {
  const ears: Ears = {
    events: openEar('events', log),
    outbox: openEar('outbox', log),
    keys: openEar('keys', log),
    policies: openEar('policies', log),
    clocks: openEar('clocks', log),
    streams: openEar('streams', log),
    alerts: openEar('alerts', log),
  };
  const outage = watchOutage('bus', log);
  const hear = (channel: string, text: string): void => {
    const topic = channel.slice(channelPrefix.length);
    if (isTopic(topic)) ears[topic].hear(text);
  };
  const options: WireOptions = {
    channels: topicNames.map(channelOf),
    hear,
    began: outage.began,
    ended: outage.ended,
  };
  const wire = await (redisUrl
    ? openRedisWire(redisUrl, options)
    : openPostgresWire(databaseUrl, options));
  return {
    publish: async (topic, message) => {
      try {
        const text = writeMessage(message);
        if (forgetting.has(topic)) ears[topic].hear(text);
        await wire.send(channelOf(topic), text);
        outage.ended();
      } catch (error) {
        outage.began(error);
      }
    },
    subscribe: (topic, listener) => {
      ears[topic].listeners.add(listener);
      return () => void ears[topic].listeners.delete(listener);
    },
    close: async () => {
      outage.silence();
      await wire.close();
    },
  };
};

/**
 * A change holds in the process that made it from its answer on: the next call must not meet what
 * was cached before.
 */
const forgetting: ReadonlySet<BusTopic> = new Set<BusTopic>(['keys', 'policies']);

/** Also begins the name after LISTEN. */
const channelPrefix = 'payments_bus_';
const channelOf = (topic: string): string => `${channelPrefix}${topic}`;

/**
 * A message that cannot be read is told to nobody; a listener that throws, at once or later,
 * hinders neither the others nor the bus.
 */
const openEar = <Topic extends BusTopic>(topic: Topic, log: Logger): Ear<Topic> => {
  const listeners = new Set<(message: BusMessages[Topic]) => void>();
  const tell = (message: BusMessages[Topic]): void => {
    for (const listener of listeners) {
      const told = async (): Promise<void> => listener(message);
      told().catch((error: unknown) =>
        log.error({ topic, err: error }, 'a listener of the bus failed'),
      );
    }
  };
  const hear = (text: string): void => {
    try {
      tell(readMessage(topic, text));
    } catch (error) {
      log.warn({ topic, err: error }, 'a message on the bus is not what it should be');
    }
  };
  return { listeners, hear };
};
