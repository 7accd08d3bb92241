/**
 * A process that makes or sends a payout and is killed by the test while it speaks to the bank:
 * `node doomed-process.ts <database> <key principal, JSON> <input, JSON> <create|send>
 * <before|during|after>`. It prints a line when it has come that far, and goes no further. The bank
 * is the simulator, on the database.
 */
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { openBanks } from '../../subgraphs/kernel/banks/route.ts';
import { openSimulator } from '../../subgraphs/kernel/banks/simulator/simulator.ts';
import { openDatabase } from '../../subgraphs/kernel/database/orm.ts';
import { noPolicies } from '../support/no-policies.ts';
import type { KeyPrincipal } from '../../subgraphs/kernel/service/access/principal.ts';
import { entities } from '../../subgraphs/entities.ts';
import { createPayout } from '../../subgraphs/payouts/create-payout.ts';
import type { PayoutInput } from '../../subgraphs/payouts/rules/create.ts';
import { sendDuePayouts } from '../../subgraphs/payouts/send-payouts.ts';

const [, , url = '', principal = '', input = '', role = '', moment = ''] = process.argv;
const database = await openDatabase({ url, entities, pool: 2 });
const simulator = openSimulator(database);

const stopHere = async (): Promise<never> => {
  process.stdout.write('here\n');
  // The open connection keeps the process alive until it is killed.
  return new Promise<never>(() => setInterval(() => {}, 60_000));
};

const bank = {
  ...simulator,
  pay: async (order: Parameters<typeof simulator.pay>[0]) => {
    if (moment === 'before') await stopHere();
    const answer = await simulator.pay(order);
    if (moment === 'during') await stopHere();
    return answer;
  },
};
const parts = {
  database,
  banks: openBanks(bank, database.pool),
  log: pino({ level: 'silent' }),
  fingerprintKey: randomBytes(32),
};
const now = (): Temporal.Instant => Temporal.Now.instant();
const read = (text: string): PayoutInput => {
  const { amount, ...rest } = JSON.parse(text) as { amount: number } & Omit<PayoutInput, 'amount'>;
  return { ...rest, amount: BigInt(amount) };
};

if (role === 'create')
  await createPayout(
    parts,
    { key: JSON.parse(principal) as KeyPrincipal, policies: noPolicies, now },
    read(input),
    null,
  );
else await sendDuePayouts(parts, now);
await stopHere();
