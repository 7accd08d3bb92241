/**
 * Carries the texts of the bus to every process, including the sender: PUBLISH and SUBSCRIBE of
 * Redis, or NOTIFY and LISTEN of PostgreSQL.
 */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { connectRedis, failFast, waitForRedis, whenRedisAnswers } from '../bus/connect-redis.ts';
import type { Statement } from '../database/statement.ts';

interface Transport {
  /** Fulfils when the text is on its way, rejects when it is not. */
  send(channel: string, text: string): Promise<void>;
  close(): Promise<void>;
}

export interface TransportOptions {
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
export const openRedisTransport = async (
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
export const openPostgresTransport = async (
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
