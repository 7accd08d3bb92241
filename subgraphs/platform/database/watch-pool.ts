/** How much of this process's connections to PostgreSQL is in use. */
import type pg from 'pg';
import { Gauge } from 'prom-client';
import { metrics } from '../tracing/telemetry.ts';

const watched = new Set<pg.Pool>();

const sum = (count: (pool: pg.Pool) => number): number =>
  watched.values().reduce((total, pool) => total + count(pool), 0);

const connections = new Gauge({
  name: 'database_pool_connections',
  help: 'PostgreSQL connections of this process by state: busy, idle, or available to open.',
  labelNames: ['state'],
  registers: [],
  collect() {
    const [open, idle, limit] = [
      sum(({ totalCount }) => totalCount),
      sum(({ idleCount }) => idleCount),
      sum(({ options }) => options.max),
    ];
    for (const [state, count] of Object.entries({ busy: open - idle, idle, unmade: limit - open }))
      this.set({ state }, count);
  },
});

const waiting = new Gauge({
  name: 'database_pool_waiting',
  help: 'Calls in this process that are waiting for a PostgreSQL connection.',
  registers: [],
  collect() {
    this.set(sum(({ waitingCount }) => waitingCount));
  },
});

for (const gauge of [connections, waiting]) metrics.registerMetric(gauge);

/** Counts a pool in; returns a function that removes it. */
export const watchPool = (pool: pg.Pool): (() => void) => {
  watched.add(pool);
  return () => void watched.delete(pool);
};
