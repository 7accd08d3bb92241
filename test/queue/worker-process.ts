/** A process that works jobs until it is killed: `node worker-process.ts <databaseUrl> <redisUrl or ->`. Tells its parent of each run, and never finishes one. */
import { pino } from 'pino';
import { openQueues } from '../../subgraphs/kernel/queue/queues.ts';
import type { Job } from '../../subgraphs/kernel/queue/run-job.ts';

const [, , databaseUrl = '', redisUrl] = process.argv;
const endless: Job = {
  name: 'survive',
  queue: 'bank',
  parse: (payload) => payload,
  run: (payload) => {
    process.send?.(payload);
    return new Promise(() => {});
  },
};
const queues = await openQueues({
  databaseUrl,
  redisUrl: redisUrl === '-' ? null : (redisUrl ?? null),
  log: pino({ level: 'silent' }),
  jobs: [endless],
  lock_ms: 1_000,
});
await queues.work([endless]);
