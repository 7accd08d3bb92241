/**
 * A worker process that works one lane and is killed by the test: `node doomed-worker.ts <database>
 * <vault key, base64> <merchant> <lane>`.
 */
import pg from 'pg';
import { Deliverer } from '../../subgraphs/merchants/webhooks/deliverer.ts';
import { log } from './harness.ts';

const [, , url = '', vaultKey = '', merchantId = '', lane = ''] = process.argv;
const deliverer = new Deliverer({
  pool: new pg.Pool({ connectionString: url }),
  vaultKey: Buffer.from(vaultKey, 'base64'),
  privateTargets: () => true,
  log,
  now: () => Temporal.Now.instant(),
  limits: { deadline_ms: 900_000, leaseMargin_ms: 900_000 },
});
deliverer.wake([{ merchantId, lane }]);
