/**
 * A process that makes or sends payouts and is killed by the test while it speaks to the bank:
 * `node doomed-process.ts <database> <create|send> <payouts, JSON>`. Each payout has a merchant of
 * its own and a moment of its call to the bank; it prints a line when one has come that far, which
 * goes no further. The bank is the simulator, on the database.
 */
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { openDatabase } from '../../subgraphs/platform/database/orm.ts';
import { noPolicies } from '../support/no-policies.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { entities } from '../../subgraphs/entities.ts';
import { createPayout } from '../../subgraphs/payouts/create-payout.ts';
import type { PayoutInput } from '../../subgraphs/payouts/rules/create.ts';
import { sendDuePayouts } from '../../subgraphs/payouts/send-payouts.ts';

interface Doomed {
  readonly key: KeyPrincipal;
  readonly input: { readonly amount: number } & Omit<PayoutInput, 'amount'>;
  readonly moment: 'before' | 'during' | 'after';
}

const [, , url = '', role = '', given = '[]'] = process.argv;
const doomed = JSON.parse(given) as readonly Doomed[];
const database = await openDatabase({ url, entities, pool: 4 });
const simulator = openSimulator(database);

const stopHere = async (): Promise<never> => {
  process.stdout.write('here\n');
  // The open connection keeps the process alive until it is killed.
  return new Promise<never>(() => setInterval(() => {}, 60_000));
};

const bank = {
  ...simulator,
  pay: async (order: Parameters<typeof simulator.pay>[0]) => {
    const moment = doomed.find(({ key }) => key.merchantId === order.merchantId)?.moment;
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

if (role === 'send') await sendDuePayouts(parts, now).then(stopHere);
else
  await Promise.all(
    doomed.map(async ({ key, input }) => {
      const creating = { key, policies: noPolicies, now };
      await createPayout(parts, creating, { ...input, amount: BigInt(input.amount) }, null);
      await stopHere();
    }),
  );
