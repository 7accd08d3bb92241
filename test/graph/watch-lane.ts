/** Which statements of a pool are sent in the lane, and how many of those at a time. */
import type pg from 'pg';
import { isInLane } from '../../subgraphs/platform/access/lane.ts';

export interface WatchedLane {
  /** Statements in the lane. */
  count: number;
  /** The most of them at a time. */
  most: number;
  /** Texts of the others. */
  readonly outside: string[];
  readonly end: () => void;
}

/** Watches what the pool's connections are taken for, until `end`. */
export const watchLane = (pool: pg.Pool): WatchedLane => {
  const { connect } = pool;
  const connectNow = connect.bind(pool) as () => Promise<pg.PoolClient>;
  const watched: WatchedLane = {
    count: 0,
    most: 0,
    outside: [],
    end: () => Object.assign(pool, { connect }),
  };
  let running = 0;
  pool.connect = (async () => {
    const waits = isInLane();
    const client = await connectNow();
    const { query, release } = client;
    if (waits) {
      watched.count += 1;
      running += 1;
      watched.most = Math.max(watched.most, running);
    } else
      client.query = ((...given: unknown[]) => {
        const [sent] = given;
        watched.outside.push(typeof sent === 'string' ? sent : (sent as { text: string }).text);
        return Reflect.apply(query, client, given) as unknown;
      }) as typeof query;
    client.release = (error) => {
      if (waits) running -= 1;
      Object.assign(client, { query, release });
      release.call(client, error);
    };
    return client;
  }) as typeof pool.connect;
  return watched;
};
