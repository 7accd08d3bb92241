/**
 * BullMQ on PostgreSQL: schema `bullmq` of the same server, one pool for all queues and workers of
 * the process.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  assertSchemaCompatibility,
  createPostgresBackend,
  isPgPool,
  type PgPool,
  runMigrations,
} from 'bullmq';
import pg from 'pg';
import { type Backend, startPatience_ms } from './backend.ts';
import { isConflict, type Outage } from './outage.ts';

const schema = 'bullmq';
/** Each worker keeps one of these for LISTEN. */
const connections = 12;
const connectTimeout_ms = 5_000;
const queryTimeout_ms = 30_000;
const closePatience_ms = 1_000;
const startPause_ms = 250;
/**
 * How many times a statement that a conflict has rolled back is sent, and the longest pause before
 * it is sent again.
 */
const tries_max = 5;
const conflictPause_ms = 50;

/**
 * Creates or updates BullMQ's tables and functions in schema `bullmq`. Safe to run in several
 * processes at once.
 */
export const migratePostgresBackend = async (databaseUrl: string): Promise<void> => {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: connectTimeout_ms,
  });
  await client.connect();
  try {
    await runMigrations(client, schema);
  } finally {
    await client.end();
  }
};

/**
 * Opens the store. Rejects when PostgreSQL does not answer for 30 seconds, or when
 * `migratePostgresBackend` has not been run.
 */
export const openPostgresBackend = async (
  databaseUrl: string,
  outage: Outage,
): Promise<Backend> => {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    options: `-c search_path=${schema}`,
    application_name: 'payments queue',
    max: connections,
    keepAlive: true,
    connectionTimeoutMillis: connectTimeout_ms,
    query_timeout: queryTimeout_ms,
  });
  pool.on('error', (error) => outage.began(error));
  const clients = new Set<pg.Client>();
  // The pool's types hide that its clients can be ended.
  pool.on('connect', (client) => client instanceof pg.Client && clients.add(client));
  pool.on('remove', (client) => client instanceof pg.Client && clients.delete(client));
  const ask = async (): Promise<void> => void (await pool.query('select 1'));
  const close = async (): Promise<void> => {
    await Promise.race([pool.end(), delay(closePatience_ms, undefined, { ref: false })]);
    // What is left was in use by a worker that outlived the deadline.
    await Promise.race([
      Promise.allSettled([...clients].map((client) => client.end())),
      delay(closePatience_ms, undefined, { ref: false }),
    ]);
  };
  try {
    await whenAnswers(ask, outage);
    await checkSchema(pool);
  } catch (error) {
    await close();
    throw error;
  }
  const watched = watchPool(pool, outage);
  return {
    factory: (name, options, extra) =>
      createPostgresBackend(name, { ...options, connection: watched }, extra),
    ask,
    close,
  };
};

/** Waits until PostgreSQL answers. Rejects with its last error when it does not. */
const whenAnswers = async (ask: () => Promise<void>, outage: Outage): Promise<void> => {
  const deadline = Date.now() + startPatience_ms;
  for (;;) {
    try {
      await ask();
      return outage.ended();
    } catch (error) {
      outage.began(error);
      if (Date.now() > deadline) throw error;
      await delay(startPause_ms);
    }
  }
};

/**
 * A wrong schema would have the workers fail in a loop without a pause: it is found here, at the
 * start.
 */
const checkSchema = async (pool: pg.Pool): Promise<void> => {
  const client = await pool.connect();
  try {
    await assertSchemaCompatibility(client, schema);
  } finally {
    client.release();
  }
};

/**
 * The pool as BullMQ sees it. BullMQ pauses before it tries again only after errors that it knows
 * as a refused connection; after any other it tries at once, hundreds of times a second, and calls
 * a job failed that was done but could not be marked. So whatever keeps PostgreSQL from answering
 * is reported as a refused connection. What a conflict with another transaction has rolled back (a
 * deadlock of BullMQ's own functions) has had no effect, and is sent again: each of BullMQ's
 * operations is one statement. The pool's own events are watched above: BullMQ need not receive
 * them once for each queue and worker.
 */
const watchPool = (pool: unknown, outage: Outage): PgPool => {
  if (!isPgPool(pool)) throw new Error('BullMQ does not take this pool');
  const watch = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    try {
      const answer = await ask();
      outage.ended();
      return answer;
    } catch (error) {
      if (isAboutTheStatement(error)) throw error;
      outage.began(error);
      throw new PostgresLost(error);
    }
  };
  const resend = async <Answer>(
    ask: () => Promise<Answer>,
    left = tries_max - 1,
  ): Promise<Answer> => {
    try {
      return await ask();
    } catch (error) {
      if (!isConflict(error) || left === 0) throw error;
      await delay(conflictPause_ms * Math.random());
      return resend(ask, left - 1);
    }
  };
  const watched: PgPool = {
    query: <Row>(text: string, parameters?: readonly unknown[]) =>
      watch(() => resend(() => pool.query<Row>(text, parameters))),
    connect: () => watch(() => pool.connect()),
    end: () => pool.end(),
    on: () => watched,
    removeAllListeners: () => watched,
  };
  return watched;
};

/**
 * PostgreSQL answered: BullMQ's functions refused (class BM), or a value cannot be stored (classes
 * 22 and 23). To wait would not help.
 */
const isAboutTheStatement = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && /^(BM|22|23)/.test(error.code ?? '');

class PostgresLost extends Error {
  /** What BullMQ looks for. */
  readonly code = 'ECONNREFUSED';

  constructor(cause: unknown) {
    super(`PostgreSQL does not answer: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
    this.name = 'PostgresLost';
  }
}
