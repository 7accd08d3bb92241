/**
 * A process that approves a draft and is killed by the test between two statements:
 * `node doomed-approval.ts <database> <merchant> <draft> <statements>`. It prints `here` before the
 * statement behind so many, and goes no further; it prints `done` when there were no more.
 */
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { openBanks } from '../../subgraphs/kernel/banks/route.ts';
import { openSimulator } from '../../subgraphs/kernel/banks/simulator/simulator.ts';
import { openDatabase } from '../../subgraphs/kernel/database/orm.ts';
import { noPolicies } from '../support/no-policies.ts';
import { entities } from '../../subgraphs/entities.ts';
import { approveDraft } from '../../subgraphs/payouts/drafts/approve-draft.ts';
import { partsAt, person } from './drafts-harness.ts';

const [, , url = '', merchantId = '', id = '', statements = '0'] = process.argv;
const database = await openDatabase({ url, entities, pool: 2 });
const stop = (word: string): Promise<never> => {
  process.stdout.write(`${word}\n`);
  // The open connection keeps the process alive until it is killed.
  return new Promise<never>(() => setInterval(() => {}, 60_000));
};

let left = Number(statements);
const { pool } = database;
const connect = pool.connect.bind(pool) as (...asked: unknown[]) => any;
// A query of the pool itself connects by a callback: those of a transaction are counted.
pool.connect = ((...asked: unknown[]) => {
  if (asked.length > 0) return connect(...asked);
  return connect().then((client: any) => {
    const query = client.query.bind(client);
    client.query = async (...given: unknown[]) => {
      if (left === 0) await stop('here');
      left -= 1;
      return query(...given);
    };
    return client;
  });
}) as typeof pool.connect;

const parts = {
  database,
  banks: openBanks(openSimulator(database), pool),
  log: pino({ level: 'silent' }),
  fingerprintKey: randomBytes(32),
};
await approveDraft(partsAt(parts), person('boris'), {
  merchantId,
  id,
  cardPan: null,
  policies: noPolicies,
});
await stop('done');
