/**
 * A worker's metrics of the whole service in addition to its own work: the books, money that waits,
 * the queues.
 */
import { Gauge } from 'prom-client';
import type { Database } from './platform/database/orm.ts';
import { watchBooks } from './ledger/books/check-books.ts';
import type { Queues } from './platform/queue/queues.ts';
import { queueNames } from './platform/queue/run-job.ts';
import { metrics } from './platform/tracing/telemetry.ts';
import { watchUnsettledMoney } from './ledger/unsettled-money.ts';

interface WatchedWorker {
  readonly database: Pick<Database, 'pool' | 'fork'>;
  readonly queues: Pick<Queues, 'depths'>;
}

/**
 * Adds the gauge `queue_jobs_waiting`, by queue: jobs that wait for a free worker. While the store
 * is away it keeps its last value.
 */
const watchQueues = (queues: Pick<Queues, 'depths'>): (() => void) => {
  const gauge = new Gauge({
    name: 'queue_jobs_waiting',
    help: 'Jobs waiting for a free worker, by queue.',
    labelNames: ['queue'],
    registers: [],
    async collect() {
      const depths = await queues.depths().catch(() => null);
      for (const queue of depths ? queueNames : []) this.set({ queue }, depths?.[queue] ?? 0);
    },
  });
  metrics.registerMetric(gauge);
  return () => metrics.removeSingleMetric('queue_jobs_waiting');
};

/**
 * Adds the gauges of the books, of alerts, of unsettled money and of the queues to the metrics of
 * this process. Gives what takes them off again.
 */
export const watchWorker = ({ database, queues }: WatchedWorker): (() => void) => {
  const forgotten = [watchBooks(database), watchUnsettledMoney(database.pool), watchQueues(queues)];
  return () => forgotten.forEach((forget) => forget());
};
