/**
 * A process that approves drafts and is killed by the test between two statements of each call:
 * `node doomed-approval.ts <payout or refund> <database> <calls, JSON>`. Of the n-th call, from 0, it prints
 * `here n` before the statement behind n others, and goes no further; it prints `done n` when there
 * were no more.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { openDatabase } from '../../subgraphs/platform/database/orm.ts';
import { isSharded } from '../../subgraphs/platform/database/sql-file.ts';
import { noPolicies } from './no-policies.ts';
import { entities } from '../../subgraphs/entities.ts';
import { approveRefundDraft } from '../../subgraphs/payments/refund-drafts/approve-draft.ts';
import { approveDrafts } from '../../subgraphs/payouts/drafts/approve-draft.ts';
import type { ApprovedTogether } from './kill-approvals.ts';
import { partsAt, person } from '../payouts/drafts-harness.ts';

// An interrupted test does not kill this process; its closed channel ends it.
process.once('disconnect', () => process.exit());

const [, , kind = '', url = '', given = '[]'] = process.argv;
const calls = JSON.parse(given) as readonly ApprovedTogether[];
const database = await openDatabase({ url, entities, pool: calls.length });
// All calls share this answer: asked for by one that goes no further, it would never come.
await isSharded(database.pool);
const printed = new Set<number>();
/** Prints once how far a call came. Work that it started in the background may stop here later. */
const stop = (word: string, place: number): Promise<never> => {
  if (!printed.has(place)) process.stdout.write(`${word} ${place}\n`);
  printed.add(place);
  // The open connection keeps the process alive until it is killed.
  return new Promise<never>(() => setInterval(() => {}, 60_000));
};

/** How many statements an approval may still send. */
const approvals = new AsyncLocalStorage<{ readonly place: number; left: number }>();
const { pool } = database;
const connect = pool.connect.bind(pool) as (...asked: unknown[]) => any;
const known = new WeakSet<object>();
// A query of the pool itself connects by a callback: those of a transaction are counted.
pool.connect = ((...asked: unknown[]) => {
  if (asked.length > 0) return connect(...asked);
  return connect().then((client: any) => {
    if (known.has(client)) return client;
    known.add(client);
    const query = client.query.bind(client);
    client.query = async (...statement: unknown[]) => {
      const approval = approvals.getStore();
      if (approval?.left === 0) await stop('here', approval.place);
      if (approval) approval.left -= 1;
      return query(...statement);
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
await Promise.all(
  calls.map(({ merchantId, ids }, place) =>
    approvals.run({ place, left: place }, async () => {
      const asked = { merchantId, ids, policies: noPolicies };
      if (kind === 'payout') await approveDrafts(partsAt(parts), person('boris'), asked);
      for (const id of kind === 'refund' ? ids : [])
        await approveRefundDraft(partsAt(parts), person('boris'), { merchantId, id });
      await stop('done', place);
    }),
  ),
);
