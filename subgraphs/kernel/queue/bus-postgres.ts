/**
 * The bus on PostgreSQL: NOTIFY and LISTEN, each on a connection of its own. Commits with a NOTIFY
 * wait for each other in the whole database, so nothing is ever notified within a transaction of
 * the service: texts that come while a statement is on its way are sent together in the next.
 */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Wire, WireOptions } from './bus-wire.ts';
import { cut, openJoin } from './notification.ts';

const connectTimeout_ms = 5_000;
const answerTimeout_ms = 5_000;
const reconnect_min_ms = 100;
const reconnect_max_ms = 5_000;
/** A silent connection may be a dead one. */
const heartbeat_ms = 15_000;
const closePatience_ms = 1_000;
/** How long a PostgreSQL that starts at the same time as we do may take. */
const startPatience_ms = 30_000;
const batch_max = 256;

const settings = (databaseUrl: string): pg.ClientConfig => ({
  connectionString: databaseUrl,
  application_name: 'payments bus',
  keepAlive: true,
  connectionTimeoutMillis: connectTimeout_ms,
  query_timeout: answerTimeout_ms,
});

/**
 * Fulfils when every channel is subscribed to. Rejects when PostgreSQL does not answer for 30
 * seconds.
 */
export const openPostgresWire = async (
  databaseUrl: string,
  options: WireOptions,
): Promise<Wire> => {
  const sender = openSender(databaseUrl);
  const stopping = new AbortController();
  const first = Promise.withResolvers<true>();
  const listening = keepListening(databaseUrl, options, stopping.signal, () => {
    first.resolve(true);
    options.ended();
  });
  const close = async (): Promise<void> => {
    stopping.abort();
    await Promise.all([listening, sender.close()]);
  };
  if (!(await Promise.race([first.promise, delay(startPatience_ms, false, { ref: false })]))) {
    await close();
    throw new Error('PostgreSQL does not answer');
  }
  return { send: sender.send, close };
};

interface Sending {
  readonly channel: string;
  readonly payloads: readonly string[];
  readonly sent: PromiseWithResolvers<void>;
}

const notify =
  'select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as sending (channel, payload)';

const openSender = (databaseUrl: string): Wire => {
  const pool = new pg.Pool({ ...settings(databaseUrl), max: 1, idleTimeoutMillis: 0 });
  // An idle connection that is lost is made anew by the next query, which fails when it cannot.
  pool.on('error', () => {});
  const waiting: Sending[] = [];
  let pumping = false;
  const pump = async (): Promise<void> => {
    if (pumping) return;
    pumping = true;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, batch_max);
      const pairs = batch.flatMap(({ channel, payloads }) =>
        payloads.map((payload) => ({ channel, payload })),
      );
      try {
        await pool.query(notify, [
          pairs.map(({ channel }) => channel),
          pairs.map(({ payload }) => payload),
        ]);
        for (const { sent } of batch) sent.resolve();
      } catch (error) {
        // Hints grow old: those that wait behind are dropped with these.
        for (const { sent } of [...batch, ...waiting.splice(0)]) sent.reject(error);
      }
    }
    pumping = false;
  };
  const send = (channel: string, text: string): Promise<void> => {
    const sent = Promise.withResolvers<void>();
    waiting.push({ channel, payloads: cut(text), sent });
    void pump();
    return sent.promise;
  };
  return {
    send,
    close: () => Promise.race([pool.end(), delay(closePatience_ms, undefined, { ref: false })]),
  };
};

/**
 * Listens until `stopping`, again and again when the connection is lost. Calls `listening` each
 * time it has begun. Never rejects.
 */
const keepListening = async (
  databaseUrl: string,
  options: WireOptions,
  stopping: AbortSignal,
  listening: () => void,
): Promise<void> => {
  let pause_ms = reconnect_min_ms;
  while (!stopping.aborted) {
    try {
      await listenUntilLost(databaseUrl, options, stopping, () => {
        pause_ms = reconnect_min_ms;
        listening();
      });
    } catch (error) {
      if (stopping.aborted) return;
      options.began(error);
      await delay(pause_ms * (0.5 + Math.random() / 2), undefined, { signal: stopping }).catch(
        () => {},
      );
      pause_ms = Math.min(pause_ms * 2, reconnect_max_ms);
    }
  }
};

/** One connection's life. Rejects when it is lost, cannot be made, or `stopping` comes. */
const listenUntilLost = async (
  databaseUrl: string,
  { channels, receive }: WireOptions,
  stopping: AbortSignal,
  listening: () => void,
): Promise<void> => {
  const client = new pg.Client(settings(databaseUrl));
  const lost = Promise.withResolvers<never>();
  client.on('error', lost.reject);
  client.on('end', () => lost.reject(new Error('the connection ended')));
  const stop = (): void => lost.reject(stopping.reason);
  stopping.addEventListener('abort', stop);
  const heartbeat = setInterval(
    () => void client.query('select 1').catch(lost.reject),
    heartbeat_ms,
  ).unref();
  const join = openJoin();
  client.on('notification', ({ channel, payload }) => {
    const text = join(payload ?? '');
    if (text !== null) receive(channel, text);
  });
  const begin = async (): Promise<void> => {
    await client.connect();
    await client.query(channels.map((channel) => `listen ${channel}`).join('; '));
    listening();
  };
  try {
    begin().catch(lost.reject);
    await lost.promise;
  } finally {
    clearInterval(heartbeat);
    stopping.removeEventListener('abort', stop);
    await Promise.race([
      client.end().catch(() => {}),
      delay(closePatience_ms, undefined, { ref: false }),
    ]);
  }
};
