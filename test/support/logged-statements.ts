/**
 * The statements that a PostgreSQL server receives, of all its connections, by its own log. A
 * server of the test's own: the log of one that is shared holds what others send.
 */
import { readFileSync, statSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../subgraphs/kernel/database/embedded-postgres.ts';

/** How often each statement came, by its name, or by the beginning of a text without one. */
export type StatementCounts = ReadonlyMap<string, number>;

export interface LoggingServer {
  readonly url: string;
  /** Counts what comes within the next `during_ms` milliseconds. */
  count(during_ms: number): Promise<StatementCounts>;
  stop(): Promise<void>;
}

// Parsing and binding are logged as well; a statement is what is executed.
const executed =
  /^(?:execute (?!<unnamed>)(?<name>\S+): |(?:execute <unnamed>|statement): (?<text>.*))/;
const line = /^statement-log \S* LOG: {2}duration: \S+ ms {2}(.*)/;

const nameOf = (logged: string): string | null => {
  const found = executed.exec(logged)?.groups;
  return found ? (found['name'] ?? (found['text'] ?? '').trim().slice(0, 80)) : null;
};

/** Starts a server that logs every statement. */
export const startLoggingServer = async (): Promise<LoggingServer> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'payments-statements-'));
  const server = await startEmbeddedPostgres({ dataDir, progress: () => {} });
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query('alter system set log_min_duration_statement = 0');
  await client.query(`alter system set log_line_prefix = 'statement-log %p '`);
  await client.query('select pg_reload_conf()');
  await client.end();
  const log = join(dataDir, 'postgres.log');
  return {
    url: server.url,
    count: async (during_ms) => {
      const from = statSync(log).size;
      await delay(during_ms);
      const counts = new Map<string, number>();
      for (const text of readFileSync(log).subarray(from).toString().split('\n')) {
        const name = nameOf(line.exec(text)?.[1] ?? '');
        if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
      }
      return counts;
    },
    stop: async () => {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
};
