/**
 * A relay process that is killed between the commit of its first events and the attempts that were
 * handed over to it: `node doomed-handover.ts <database> <lease in milliseconds>`.
 */
import pg from 'pg';
import { startRelay } from '../../subgraphs/kernel/events/relay.ts';
import { deliveriesOf } from '../../subgraphs/merchants/webhooks/make-deliveries.ts';
import { log } from './harness.ts';

const [, , connectionString = '', lease = ''] = process.argv;

startRelay({
  pool: new pg.Pool({ connectionString }),
  bus: { publish: async () => void process.send?.('relaying'), subscribe: () => () => {} },
  log,
  deliveriesOf,
  handover: {
    ask: () => ({ room: 10, lease_ms: Number(lease), now: Temporal.Now.instant(), full: [] }),
    take: () => void process.kill(process.pid, 'SIGKILL'),
  },
  wake: async () => {},
});
