/** The pool of a connection: what is known of a pool also holds for its connections. */
import type pg from 'pg';

const pools = new WeakMap<object, pg.Pool>();

/** Has `poolOf` know this pool's connections. */
export const knowClients = (pool: pg.Pool): void =>
  void pool.on('connect', (client) => pools.set(client, pool));

/** The pool of a connection; undefined for one that no known pool has made. */
export const poolOf = (client: pg.PoolClient): pg.Pool | undefined => pools.get(client);
