/**
 * The bus: best-effort messages between all processes, over Redis when there is one, else over
 * LISTEN/NOTIFY. A message is a hint (docs/architecture.md#invariants). What was sent while a process
 * was not connected is not sent again, and who must not miss anything looks in PostgreSQL.
 */
import { randomUUID } from 'node:crypto';
import type { Bus, BusMessages, BusTopic } from '../service/bus.ts';
import type { Logger } from '../service/tracing/telemetry.ts';
import { isTopic, readMessage, topicNames, writeMessage } from './bus-message.ts';
import { openPostgresWire } from './bus-postgres.ts';
import { openRedisWire } from './bus-redis.ts';
import type { WireOptions } from './bus-wire.ts';
import { watchOutage } from './outage.ts';
import { openPace } from './pace.ts';
import { openPeers } from './peers.ts';

export interface BusOptions {
  /** Null: PostgreSQL. It must be reached directly, not through a pooler that shares sessions. */
  readonly redisUrl: string | null;
  readonly databaseUrl: string;
  readonly log: Logger;
}

interface TopicSubscription<Topic extends BusTopic> {
  readonly listeners: Set<(message: BusMessages[Topic]) => void>;
  readonly deliver: (message: BusMessages[Topic]) => void;
  readonly receive: (text: string) => void;
}
type TopicSubscriptions = { readonly [Topic in BusTopic]: TopicSubscription<Topic> };

/**
 * Opens the bus: fulfils when this process is subscribed to every topic. Messages of one process
 * arrive in the order of `publish`, its own too, each once. Events are received here before they
 * leave the process, even while the bus is away; while no other process is there, one message of a
 * second leaves it. So is received what only says that something must be forgotten, and once more
 * with the others. `publish` never rejects: while the bus is away its
 * messages are dropped, and the log says once that it is lost and once that it is back. Rejects
 * when the other side does not answer for 30 seconds.
 */
export const openBus = async ({
  redisUrl,
  databaseUrl,
  log,
}: BusOptions): Promise<Bus & { close(): Promise<void> }> => {
  const subscriptions = openTopicSubscriptions(log);
  const outage = watchOutage('bus', log, () => void peers.began());
  const peers = openPeers((text) => send(peersName, text), log);
  const marking = openMarking();
  const receive = (channel: string, text: string): void => {
    const topic = channel.slice(channelPrefix.length);
    if (topic === peersName) peers.receive(text);
    else if (isTopic(topic) && !marking.isOwn(text)) subscriptions[topic].receive(text);
  };
  const options: WireOptions = {
    channels: [...topicNames, peersName].map(channelOf),
    receive,
    began: outage.began,
    ended: outage.ended,
  };
  const wire = await (redisUrl
    ? openRedisWire(redisUrl, options)
    : openPostgresWire(databaseUrl, options));
  const send = async (topic: BusTopic | typeof peersName, text: string): Promise<void> => {
    try {
      await wire.send(channelOf(topic), text);
      outage.ended();
    } catch (error) {
      outage.began(error);
    }
  };
  await peers.began();
  const askElsewhere = atPace(() => send('outbox', 'null'));
  return {
    publish: async (topic, message) => {
      const { listeners, deliver } = subscriptions[topic];
      if (topic === 'outbox') return listeners.size > 0 ? deliver(message) : askElsewhere();
      if (topic === 'events') {
        deliver(message);
        return peers.needEvents() ? send(topic, marking.mark(writeMessage(message))) : undefined;
      }
      if (forgetting.has(topic)) deliver(message);
      return send(topic, writeMessage(message));
    },
    subscribe: (topic, listener) => {
      subscriptions[topic].listeners.add(listener);
      return () => void subscriptions[topic].listeners.delete(listener);
    },
    close: async () => {
      outage.silence();
      peers.close();
      await wire.close();
    },
  };
};

/**
 * Topics whose messages make caches forget. The process that publishes one receives it at once:
 * from its answer on, a change must hold there, and the next call must not find what was cached
 * before.
 */
const forgetting: ReadonlySet<BusTopic> = new Set<BusTopic>([
  'keys',
  'policies',
  'clocks',
  'sessions',
]);

const openTopicSubscriptions = (log: Logger): TopicSubscriptions => ({
  events: openTopicSubscription('events', log),
  outbox: openTopicSubscription('outbox', log),
  keys: openTopicSubscription('keys', log),
  policies: openTopicSubscription('policies', log),
  clocks: openTopicSubscription('clocks', log),
  streams: openTopicSubscription('streams', log),
  sessions: openTopicSubscription('sessions', log),
  alerts: openTopicSubscription('alerts', log),
  lists: openTopicSubscription('lists', log),
});

/** Where processes announce themselves. */
const peersName = 'peers';

/** Messages of this process that it has received before they left. */
const openMarking = () => {
  const start = `{"from":"${randomUUID()}",`;
  return {
    /** The text of an object, marked; who does not know the mark reads the rest. */
    mark: (text: string): string => `${start}${text.slice(1)}`,
    isOwn: (text: string): boolean => text.startsWith(start),
  };
};

/** The least time between two of many wake-ups of another process: those of a moment are one. */
const wakeRest_ms = 5;

/** `wake`, with calls that would follow each other quickly gathered. */
const atPace = (wake: () => Promise<void>): (() => Promise<void>) => {
  const pace = openPace(wakeRest_ms);
  let waiting: Promise<void> | null = null;
  return () =>
    (waiting ??= pace().then(() => {
      waiting = null;
      return wake();
    }));
};

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
  return { listeners, deliver, receive };
};
