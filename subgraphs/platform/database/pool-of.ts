/**
 * The pool of a connection, since what is known of a pool also holds for its connections; and
 * connections outside of all pools.
 */
import pg from 'pg';

const pools = new WeakMap<object, pg.Pool>();

/** Has `poolOf` know this pool's connections. */
export const knowClients = (pool: pg.Pool): void =>
  void pool.on('connect', (client) => pools.set(client, pool));

/** The pool of a connection; undefined for one that no known pool has made. */
export const poolOf = (client: pg.PoolClient): pg.Pool | undefined => pools.get(client);

/** Runs `work` on a connection outside of all pools, and closes it behind that. */
export const onOwnClient = async <Result>(
  config: pg.ClientConfig,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> => {
  const client = new pg.Client(config);
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
};
