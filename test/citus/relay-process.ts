/**
 * A relay that says when it numbers a shard's events and when that is done, to be killed in
 * between: `node relay-process.ts <database>`.
 */
import pg from 'pg';
import { startRelay } from '../../subgraphs/platform/events/relay.ts';
import { log } from '../webhooks/harness.ts';

const [, , connectionString = ''] = process.argv;
const pool = new pg.Pool({ connectionString });
pool.on('connect', (client) => {
  client.on('error', () => {});
  const send = client.query.bind(client);
  client.query = ((...given: Parameters<typeof send>) => {
    const sent = send(...given) as unknown as Promise<unknown>;
    const [query] = given as unknown as readonly [{ readonly name?: string }];
    if (query.name === 'relay.number_shard') {
      process.send?.('numbering');
      sent.then(
        () => process.send?.('numbered'),
        () => {},
      );
    }
    return sent;
  }) as typeof client.query;
});
startRelay({
  pool,
  bus: { publish: async () => {}, subscribe: () => () => {} },
  log,
  wake: async () => {},
});
