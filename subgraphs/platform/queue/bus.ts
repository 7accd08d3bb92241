/**
 * The bus: best-effort messages between all processes, over Redis when there is one, else over
 * LISTEN/NOTIFY. A message is a hint (docs/architecture.md#invariants). Messages sent while a
 * process is disconnected are not repeated; a reader that must not miss anything reads PostgreSQL.
 */
import pg from 'pg';
import { randomUUID } from 'node:crypto';
import {
  isTopic,
  readMessage,
  topicNames,
  type Bus,
  type BusMessages,
  type BusTopic,
} from '../bus/bus.ts';
import { watchOutage } from '../tracing/outage.ts';
import type { Logger } from '../tracing/telemetry.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { connectRedis, failFast, waitForRedis, whenRedisAnswers } from '../bus/connect-redis.ts';
import type { Statement } from '../database/statement.ts';

// Carries the texts of the bus to every process, including the sender: PUBLISH and SUBSCRIBE of
// Redis, or NOTIFY and LISTEN of PostgreSQL.

interface Transport {
  /** Fulfils when the text is on its way, rejects when it is not. */
  send(channel: string, text: string): Promise<void>;
  close(): Promise<void>;
}

interface TransportOptions {
  readonly channels: readonly string[];
  readonly receive: (channel: string, text: string) => void;
  /** The other side failed to answer. */
  readonly began: (error: unknown) => void;
  /** The other side answers. */
  readonly ended: () => void;
}

/**
 * A silent connection may be dead, and a cluster's client that has reconnected to its nodes may
 * have lost its channels: subscribe to them again at intervals.
 */
const resubscribe_ms = 5_000;

/** Fulfils when every channel is subscribed to. Rejects when Redis is away for 30 seconds. */
const openRedisTransport = async (
  url: string,
  { channels, receive, began, ended }: TransportOptions,
): Promise<Transport> => {
  const sender = connectRedis(url, failFast).on('error', began);
  const subscriber = connectRedis(url, waitForRedis).on('error', began);
  subscriber.on('ready', ended).on('message', receive);
  const subscribe = async (): Promise<void> => void (await subscriber.subscribe(...channels));
  const timer = setInterval(() => {
    if (subscriber.status === 'ready') void subscribe().then(ended, began);
  }, resubscribe_ms).unref();
  const close = async (): Promise<void> => {
    clearInterval(timer);
    sender.disconnect();
    subscriber.disconnect();
  };
  try {
    await Promise.all([whenRedisAnswers(sender), whenRedisAnswers(subscriber)]);
    await subscribe();
  } catch (error) {
    await close();
    throw error;
  }
  return { send: async (channel, text) => void (await sender.publish(channel, text)), close };
};

const connectTimeout_ms = 5_000;
const answerTimeout_ms = 5_000;
const reconnect_ms = 500;
const heartbeat_ms = 15_000;
const close_max_ms = 1_000;
/** Time limit for a PostgreSQL that starts at the same time as we do. */
const start_max_ms = 30_000;
const batch_max = 256;

const notify: Statement = {
  name: 'bus.notify',
  text: 'select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as sending (channel, payload)',
};

interface Sending {
  readonly channel: string;
  readonly text: string;
  readonly sent: PromiseWithResolvers<void>;
}

/**
 * Fulfils when every channel is subscribed to. Rejects when PostgreSQL is away for 30 seconds. One
 * connection listens and sends.
 */
const openPostgresTransport = async (
  databaseUrl: string,
  options: TransportOptions,
): Promise<Transport> => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const first = Promise.withResolvers<true>();
  let client: pg.Client | null = null;
  const keepConnected = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await useConnection(databaseUrl, options, signal, (listening) => {
          client = listening;
          first.resolve(true);
          options.ended();
        });
      } catch (error) {
        client = null;
        if (!signal.aborted) options.began(error);
      }
      await delay(reconnect_ms, undefined, { signal }).catch(() => {});
    }
  };
  const connected = keepConnected();
  const close = async (): Promise<void> => {
    stopping.abort();
    await connected;
  };
  if (!(await Promise.race([first.promise, delay(start_max_ms, false, { ref: false })]))) {
    await close();
    throw new Error('PostgreSQL does not answer');
  }
  return { send: openSending(() => client), close };
};

/** One connection's life. Rejects when it is lost, cannot be made, or `stopping` comes. */
const useConnection = async (
  databaseUrl: string,
  { channels, receive }: TransportOptions,
  stopping: AbortSignal,
  listening: (client: pg.Client) => void,
): Promise<never> => {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'payments bus',
    keepAlive: true,
    connectionTimeoutMillis: connectTimeout_ms,
    query_timeout: answerTimeout_ms,
  });
  const lost = Promise.withResolvers<never>();
  client.on('error', lost.reject).on('end', () => lost.reject(new Error('the connection ended')));
  const stop = (): void => lost.reject(stopping.reason);
  stopping.addEventListener('abort', stop);
  const join = openJoin();
  client.on('notification', ({ channel, payload = '' }) => {
    const text = join(payload);
    if (text !== null) receive(channel, text);
  });
  const heartbeat = setInterval(
    () => void client.query('select 1').catch(lost.reject),
    heartbeat_ms,
  ).unref();
  const begin = async (): Promise<void> => {
    await client.connect();
    await client.query(channels.map((channel) => `listen ${channel}`).join('; '));
    listening(client);
  };
  try {
    begin().catch(lost.reject);
    return await lost.promise;
  } finally {
    clearInterval(heartbeat);
    stopping.removeEventListener('abort', stop);
    const end = client.end().catch(() => {});
    await Promise.race([end, delay(close_max_ms, undefined, { ref: false })]);
  }
};

/**
 * Commits with a NOTIFY wait for each other in the whole database, so no transaction of the service
 * sends one: texts that arrive while a statement is in progress are sent together in the next one,
 * without duplicates.
 */
const openSending = (connection: () => pg.Client | null): Transport['send'] => {
  const partsOf = openParts();
  const waiting = new Map<string, Sending>();
  let isSending = false;
  const sendWaiting = async (): Promise<void> => {
    isSending = true;
    while (waiting.size > 0) {
      const batch = [...waiting].slice(0, batch_max);
      for (const [key] of batch) waiting.delete(key);
      const channels: string[] = [];
      const payloads: string[] = [];
      for (const [, { channel, text }] of batch)
        for (const part of partsOf(text)) {
          channels.push(channel);
          payloads.push(part);
        }
      try {
        const client = connection();
        if (!client) throw new Error('PostgreSQL does not answer');
        await client.query({ ...notify, values: [channels, payloads] });
        for (const [, { sent }] of batch) sent.resolve();
      } catch (error) {
        // Hints grow old: further waiting texts are dropped with these.
        for (const [, { sent }] of [...batch, ...waiting]) sent.reject(error);
        waiting.clear();
      }
    }
    isSending = false;
  };
  return (channel, text) => {
    const key = `${channel} ${text}`;
    const sending = waiting.get(key) ?? { channel, text, sent: Promise.withResolvers<void>() };
    waiting.set(key, sending);
    if (!isSending) void sendWaiting();
    return sending.sent.promise;
  };
};

/**
 * Cuts texts into payloads of NOTIFY, which are shorter than 8000 bytes. A number makes each one
 * unique: PostgreSQL sends equal payloads of a transaction only once.
 */
export const openParts = (): ((text: string) => readonly string[]) => {
  let made = 0;
  return (text) => {
    const parts = text.match(/.{1,1900}/gsu) ?? [''];
    return parts.map(
      (part, place) => `${(made += 1)}${place + 1 < parts.length ? '+' : '='}${part}`,
    );
  };
};

/**
 * Reassembles the payloads of a connection: returns the text with its last payload, and null
 * before. All payloads of a text are sent in one transaction, so they arrive one after another.
 */
export const openJoin = (): ((payload: string) => string | null) => {
  let begun = '';
  return (payload) => {
    const [, sign, part = ''] = /^\d+([+=])(.*)$/s.exec(payload) ?? [];
    begun += part;
    if (sign !== '=') return null;
    const text = begun;
    begun = '';
    return text;
  };
};

interface BusOptions {
  /** Null: PostgreSQL. It must be reached directly, not through a pooler that shares sessions. */
  readonly redisUrl: string | null;
  readonly databaseUrl: string;
  readonly log: Logger;
}

type Listeners = { readonly [Topic in BusTopic]: Set<(message: BusMessages[Topic]) => void> };

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
