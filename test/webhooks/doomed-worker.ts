/**
 * A worker process that works one lane and is killed by the test: `node doomed-worker.ts <database>
 * <vault key, base64> <lane>`.
 */
import pg from 'pg';
import { webhookJobs } from '../../subgraphs/merchants/webhooks/jobs.ts';
import { log } from './harness.ts';

const [, , url = '', vaultKey = '', lane = ''] = process.argv;
const [deliver] = webhookJobs({
  pool: new pg.Pool({ connectionString: url }),
  vaultKey: Buffer.from(vaultKey, 'base64'),
  privateTargets: () => true,
  log,
  now: () => Temporal.Now.instant(),
  wake: async () => {},
  stopping: new AbortController().signal,
  limits: { deadline_ms: 1_200, leaseMargin_ms: 800 },
});
await deliver?.run({ lane });
