/**
 * A process that makes many payouts at once: `node spender-process.ts <database> <key principal,
 * JSON> <how many> <amount>`. It reports when it is ready, begins on a message, and prints how
 * many were made and how many were refused for want of money.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { pino } from 'pino';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { openDatabase } from '../../subgraphs/platform/database/orm.ts';
import { noPolicies } from '../support/no-policies.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { entities } from '../../subgraphs/entities.ts';
import { createPayout } from '../../subgraphs/payouts/create-payout.ts';
import { sbp } from './harness.ts';

const [, , url = '', principal = '', count = '0', amount = '0'] = process.argv;
const database = await openDatabase({ url, entities, pool: 12 });
const parts = {
  database,
  banks: openBanks(openSimulator(database), database.pool),
  log: pino({ level: 'silent' }),
  fingerprintKey: randomBytes(32),
};
const key = JSON.parse(principal) as KeyPrincipal;
const creating = { key, policies: noPolicies, now: () => Temporal.Now.instant() };
await database.pool.query('select 1');
process.stdout.write('ready\n');
await once(process.stdin, 'data');
process.stdin.destroy();
const made = await Promise.all(
  Array.from({ length: Number(count) }, () =>
    createPayout(parts, creating, { amount: BigInt(amount), ...sbp }, null),
  ),
);
const refusals = made.flatMap((one) => (isRefusal(one) ? [one.code] : []));
process.stdout.write(
  JSON.stringify({
    made: made.length - refusals.length,
    uncovered: refusals.filter((code) => code === 'insufficient_balance').length,
  }),
);
await database.close();
