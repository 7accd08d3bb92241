/**
 * A worker process that works one lane and is killed by the test: `node doomed-worker.ts <database>
 * <vault key, base64> <lane>`.
 */
import pg from 'pg';
import { openLanes } from '../../subgraphs/merchants/webhooks/lanes.ts';
import { log } from './harness.ts';

const [, , url = '', vaultKey = '', lane = ''] = process.argv;
const lanes = openLanes({
  pool: new pg.Pool({ connectionString: url }),
  vaultKey: Buffer.from(vaultKey, 'base64'),
  privateTargets: () => true,
  log,
  now: () => Temporal.Now.instant(),
  stopping: new AbortController().signal,
  limits: { deadline_ms: 900_000, leaseMargin_ms: 900_000 },
});
await lanes.deliver(lane);
