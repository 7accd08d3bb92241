/**
 * Answers `GET /primary` as Patroni's REST API does: 200 while the PostgreSQL beside it is the
 * primary, else 503.
 */
import { createServer } from 'node:http';
import { once } from 'node:events';
import pg from 'pg';

/** How long an answer of PostgreSQL counts. */
const fresh_ms = 200;
/** A killed server refuses at once; one that is slow on a busy machine is not lost. */
const patience_ms = 20_000;

/** Starts it for one server. `port` is where HAProxy asks. */
export const sayPrimary = async (
  url: string,
): Promise<{ readonly port: number; close(): Promise<void> }> => {
  const pool = new pg.Pool({
    connectionString: url,
    max: 1,
    connectionTimeoutMillis: patience_ms,
    query_timeout: patience_ms,
    idleTimeoutMillis: 0,
  });
  pool.on('error', () => {});
  let asked_ms = -Infinity;
  let primary = Promise.resolve(false);
  const ask = async (): Promise<boolean> => {
    const { rows } = await pool.query<{ recovering: boolean }>(
      'select pg_is_in_recovery() as recovering',
    );
    return rows[0]?.recovering === false;
  };
  const server = createServer((_request, response) => {
    if (performance.now() - asked_ms > fresh_ms) {
      asked_ms = performance.now();
      primary = ask().catch(() => false);
    }
    void primary.then((isPrimary) => response.writeHead(isPrimary ? 200 : 503).end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await Promise.race([pool.end(), once(server, 'close')]);
  };
  return { port: typeof address === 'object' && address ? address.port : 0, close };
};
