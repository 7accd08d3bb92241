/**
 * The bus: best-effort messages between all processes, over Redis when there is one, else over
 * LISTEN/NOTIFY. Invariant 1 of ARCHITECTURE.md: a message is a hint. What was sent while a process
 * was not connected is not sent again, and who must not miss anything looks in PostgreSQL.
 */
import type { Bus, BusMessages, BusTopic } from '../service/bus.ts';
import type { Logger } from '../service/tracing/telemetry.ts';
import { isTopic, readMessage, topicNames, writeMessage } from './bus-message.ts';
import { openPostgresWire } from './bus-postgres.ts';
import { openRedisWire } from './bus-redis.ts';
import type { WireOptions } from './bus-wire.ts';
import { watchOutage } from './outage.ts';

export interface BusOptions {
  /** Null: PostgreSQL. It must be reached directly, not through a pooler that shares sessions. */
  readonly redisUrl: string | null;
  readonly databaseUrl: string;
  readonly log: Logger;
}

interface TopicSubscription<Topic extends BusTopic> {
  readonly listeners: Set<(message: BusMessages[Topic]) => void>;
  readonly receive: (text: string) => void;
}
type TopicSubscriptions = { readonly [Topic in BusTopic]: TopicSubscription<Topic> };

/**
 * Opens the bus: fulfils when this process is subscribed to every topic. Messages of one process
 * arrive in the order of `publish`, its own too, each once; what only says that something must be
 * forgotten is received here before `publish` fulfils, even while the bus is away, and once more
 * with the others. `publish` never rejects: while the bus is away its messages are dropped, and the
 * log says once that it is lost and once that it is back. Rejects when the other side does not
 * answer for 30 seconds.
 */
export const openBus = async ({
  redisUrl,
  databaseUrl,
  log,
}: BusOptions): Promise<Bus & { close(): Promise<void> }> => {
  const subscriptions: TopicSubscriptions = {
    events: openTopicSubscription('events', log),
    outbox: openTopicSubscription('outbox', log),
    keys: openTopicSubscription('keys', log),
    policies: openTopicSubscription('policies', log),
    clocks: openTopicSubscription('clocks', log),
    streams: openTopicSubscription('streams', log),
    alerts: openTopicSubscription('alerts', log),
  };
  const outage = watchOutage('bus', log);
  const receive = (channel: string, text: string): void => {
    const topic = channel.slice(channelPrefix.length);
    if (isTopic(topic)) subscriptions[topic].receive(text);
  };
  const options: WireOptions = {
    channels: topicNames.map(channelOf),
    receive,
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
        if (singleReceiver.has(topic) && subscriptions[topic].listeners.size > 0)
          return subscriptions[topic].receive(text);
        if (forgetting.has(topic)) subscriptions[topic].receive(text);
        await wire.send(channelOf(topic), text);
        outage.ended();
      } catch (error) {
        outage.began(error);
      }
    },
    subscribe: (topic, listener) => {
      subscriptions[topic].listeners.add(listener);
      return () => void subscriptions[topic].listeners.delete(listener);
    },
    close: async () => {
      outage.silence();
      await wire.close();
    },
  };
};

/**
 * Topics whose messages make caches forget. The process that publishes one receives it at once:
 * from its answer on, a change must hold there, and the next call must not find what was cached
 * before.
 */
const forgetting: ReadonlySet<BusTopic> = new Set<BusTopic>(['keys', 'policies', 'clocks']);

/** Topics that one process of the installation receives: no other need be asked when it is this. */
const singleReceiver: ReadonlySet<BusTopic> = new Set<BusTopic>(['outbox']);

/** Also begins the name after LISTEN. */
const channelPrefix = 'payments_bus_';
const channelOf = (topic: string): string => `${channelPrefix}${topic}`;

/**
 * A message that cannot be read is delivered to no listener. A listener that throws, at once or
 * later, hinders neither the others nor the bus.
 */
const openTopicSubscription = <Topic extends BusTopic>(
  topic: Topic,
  log: Logger,
): TopicSubscription<Topic> => {
  const listeners = new Set<(message: BusMessages[Topic]) => void>();
  const deliver = (message: BusMessages[Topic]): void => {
    for (const listener of listeners) {
      const delivery = async (): Promise<void> => listener(message);
      delivery().catch((error: unknown) =>
        log.error({ topic, err: error }, 'a listener of the bus failed'),
      );
    }
  };
  const receive = (text: string): void => {
    try {
      deliver(readMessage(topic, text));
    } catch (error) {
      log.warn({ topic, err: error }, 'a message on the bus is not what it should be');
    }
  };
  return { listeners, receive };
};
