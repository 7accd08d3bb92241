/** What the payments subgraph does in the background. The sweeps find everything by themselves; the wake-ups only make it prompt. */
import type { Banks } from '../kernel/banks/route.ts';
import type { Database } from '../kernel/database/orm.ts';
import { foldBalances } from '../kernel/ledger/balance.ts';
import { done, type Job } from '../kernel/queue/run-job.ts';
import { abreast } from './abreast.ts';
import { askBank, findAsksDue } from './ask-bank.ts';
import { expirePayments } from './expire-payments.ts';
import type { PaymentKey } from './store-payment.ts';

export interface PaymentJobs {
  readonly database: Database;
  readonly banks: Banks;
  readonly now: () => Temporal.Instant;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const parseKey = (payload: unknown): PaymentKey => {
  if (typeof payload === 'object' && payload !== null && 'merchantId' in payload && 'paymentId' in payload) {
    const { merchantId, paymentId } = payload;
    if (typeof merchantId === 'string' && typeof paymentId === 'string' && uuid.test(merchantId) && uuid.test(paymentId)) return { merchantId, paymentId };
  }
  throw new TypeError('expected a merchantId and a paymentId');
};

/** The job that asks a bank about one payment: enqueued when an answer is expected at a known time. */
export const askBankJob = 'ask-bank';

const sweepMost = 500;
const questionsAbreast = 32;

/** The jobs of the payments subgraph. */
export const paymentJobs = ({ database, banks, now }: PaymentJobs): readonly Job[] => [
  {
    name: askBankJob,
    queue: 'bank',
    parse: parseKey,
    run: async (payload) => {
      await askBank(database, banks, parseKey(payload), now());
      return done;
    },
  },
  {
    name: 'sweep-bank-answers',
    queue: 'schedules',
    every_ms: 1_000,
    parse: () => null,
    run: async () => {
      await abreast(await findAsksDue(database, now(), sweepMost), questionsAbreast, (key) => askBank(database, banks, key, now()));
      return done;
    },
  },
  {
    name: 'expire-payments',
    queue: 'schedules',
    every_ms: 1_000,
    parse: () => null,
    run: async () => {
      await expirePayments(database, banks, now);
      return done;
    },
  },
  {
    name: 'fold-balances',
    queue: 'schedules',
    every_ms: 1_000,
    parse: () => null,
    run: async () => {
      while ((await foldBalances(database.pool)) > 0);
      return done;
    },
  },
];
