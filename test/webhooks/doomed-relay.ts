/**
 * A relay process that is killed between the commit of its first events and publishing
 * them: `node doomed-relay.ts <database>`.
 */
import pg from 'pg';
import { startRelay } from '../../subgraphs/platform/events/relay.ts';
import type { Bus } from '../../subgraphs/platform/bus/bus.ts';
import { log } from './harness.ts';

const [, , connectionString = ''] = process.argv;

/** A bus whose process dies at the first events that it is to carry. */
const lastWords: Bus = {
  publish: async (topic, message) => {
    if (topic === 'events' && message !== null && 'events' in message && message.events.length > 0)
      process.kill(process.pid, 'SIGKILL');
    else process.send?.('relaying');
  },
  subscribe: () => () => {},
};

startRelay({
  pool: new pg.Pool({ connectionString }),
  bus: lastWords,
  log,
  wake: async () => {},
});
