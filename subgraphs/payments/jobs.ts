/**
 * What the payments subgraph does in the background. The sweeps find everything by themselves; the
 * wake-ups only make it prompt.
 */
import type { Banks } from '../acquirers/route.ts';
import { earliest, type ClockParticipant } from '../platform/clock/keep-clocks.ts';
import type { TestClocks } from '../platform/clock/test-clocks.ts';
import type { Database } from '../platform/database/orm.ts';
import { foldBacklog, isFoldDue } from '../ledger/fold.ts';
import { done, type Job } from '../platform/queue/run-job.ts';
import { paymentAsks } from './bank-answers/ask-bank.ts';
import { expirePayments, linkEnds, sessionEnds } from './expire-payments.ts';
import { receiveCallbacks } from './bank-answers/receive-callbacks.ts';
import { expireLinks } from './links/end-links.ts';
import { linkLives } from './links/store-link.ts';
import { askDue, type OrderingDeps } from './bank-answers/order-again.ts';
import { endHolds, holdEnds } from './holds/release-hold.ts';
import { pageAddress, type PageDeps } from '../platform/graph/page-address.ts';

export interface PaymentJobs extends PageDeps {
  readonly database: Database;
  readonly banks: Banks;
  readonly clocks: TestClocks;
  /** The real time. */
  readonly now: () => Temporal.Instant;
  /** Ends a long run early. */
  readonly stopping: AbortSignal;
}

/** The job that queries banks; added when an answer is expected at a known time. */
export const askBanksJob = 'sweep-bank-answers';

/** A sweep finds its own work; `due` are SQL conditions that say whether there is any. */
const sweep = (name: string, due: readonly string[], work: () => Promise<unknown>): Job => ({
  name,
  queue: 'schedules',
  due,
  run: async () => {
    await work();
    return done;
  },
});

const orderingOf = (
  deps: Pick<PaymentJobs, 'database' | 'banks' | keyof PageDeps>,
): OrderingDeps => ({
  database: deps.database,
  banks: deps.banks,
  pageUrl: (key) => pageAddress(deps, key),
});

/** The jobs of the payments subgraph. */
export const paymentJobs = ({
  database,
  banks,
  now,
  stopping,
  ...page
}: Omit<PaymentJobs, 'clocks'>): readonly Job[] => [
  sweep(askBanksJob, [paymentAsks.isDue], () =>
    askDue(orderingOf({ database, banks, ...page }), now),
  ),
  sweep('receive-simulator-callbacks', [banks.simulator.callbacks.isDue], () =>
    receiveCallbacks(database, banks, now()),
  ),
  sweep('expire-payments', [linkEnds.isDue, sessionEnds.isDue], () =>
    expirePayments(database, banks, now),
  ),
  sweep('end-holds', [holdEnds.isDue], () => endHolds(database, banks, now)),
  sweep('expire-links', [linkLives.isDue], () => expireLinks(database, now)),
  sweep('fold-balances', [isFoldDue], () => foldBacklog(database.pool, stopping)),
];

/** How payments follow a shop's test clock. */
export const paymentClockParticipant = ({
  database,
  banks,
  ...page
}: Pick<PaymentJobs, 'database' | 'banks' | keyof PageDeps>): ClockParticipant => ({
  due: [banks.simulator.callbacks, paymentAsks, linkEnds, sessionEnds, holdEnds, linkLives].map(
    ({ byClock }) => byClock,
  ),
  next: async (shop, now) => {
    const waiting = [paymentAsks, linkEnds, sessionEnds, holdEnds, linkLives].map((due) =>
      due.next(database.pool, shop, now),
    );
    return earliest(await Promise.all([banks.simulator.callbacks.next(shop, now), ...waiting]));
  },
  work: async (shop, now) => {
    const received = await receiveCallbacks(database, banks, now, shop);
    const asked = await askDue(orderingOf({ database, banks, ...page }), () => now, shop);
    const expired = await expirePayments(database, banks, () => now, shop);
    const held = await endHolds(database, banks, () => now, shop);
    return received + asked + expired + held + (await expireLinks(database, () => now, shop));
  },
});
