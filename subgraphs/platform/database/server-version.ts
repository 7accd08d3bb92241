/** Which versions of PostgreSQL the service runs on: 15 and later. */
import pg from 'pg';

/** The oldest version on which the tests have passed. */
const serverVersion_min = 15;
/** Time limit for an unreachable server. */
const patience_ms = 3_000;

const askVersion = async (url: string): Promise<number | null> => {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: patience_ms,
    query_timeout: patience_ms,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ number: number }>(
      "select current_setting('server_version_num')::int as number",
    );
    return Math.floor((rows[0]?.number ?? 0) / 10_000);
  } catch {
    return null;
  } finally {
    await client.end().catch(() => {});
  }
};

/**
 * Throws one readable sentence when the server is too old: it would accept the migrations and fail
 * later, in the middle of a payment. A server that does not answer is not too old; its callers
 * continue to wait.
 */
export const refuseOldServer = async (url: string): Promise<void> => {
  const version = await askVersion(url);
  if (version !== null && version < serverVersion_min)
    throw new Error(
      `DATABASE_URL leads to PostgreSQL ${version}: the service needs PostgreSQL ${serverVersion_min} or later.`,
    );
};
