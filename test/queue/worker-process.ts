/**
 * A process that works jobs: `node worker-process.ts <databaseUrl> <redisUrl or ->`. Reports to
 * its parent when it works, and each run, and never finishes one. Closes the queues when its parent
 * disconnects, and then ends by itself if nothing is left open.
 */
import { pino } from 'pino';
import { openQueues } from '../../subgraphs/platform/queue/queues.ts';
import type { Job } from '../../subgraphs/platform/queue/run-job.ts';

const [, , databaseUrl = '', redisUrl] = process.argv;
const endless: Job = {
  name: 'survive',
  queue: 'bank',
  run: (payload) => {
    process.send?.(payload);
    return new Promise(() => {});
  },
};
const queues = await openQueues({
  databaseUrl,
  redisUrl: redisUrl === '-' ? null : (redisUrl ?? null),
  log: pino({ level: 'info' }),
  jobs: [endless],
  lock_ms: 1_000,
});
await queues.work([endless]);
process.on('disconnect', () => queues.close());
process.send?.('ready');
