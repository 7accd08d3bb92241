/** Background jobs of subscriptions. The sweep finds all due work; the schedule only wakes it. */
import type { ClockParticipant } from '../../platform/clock/keep-clocks.ts';
import { run, type Statement } from '../../platform/database/statement.ts';
import { done, type Job } from '../../platform/queue/run-job.ts';
import { chargeDue, type ChargingDeps } from './charge-due.ts';
import { dueAsks, dueSubscriptions, nextDueOfShop } from './store-subscription.ts';

interface SubscriptionJobs extends ChargingDeps {
  readonly now: () => Temporal.Instant;
  /** Ends long sweeps early. */
  readonly stopping: AbortSignal;
}

/** The jobs of subscriptions. */
export const subscriptionJobs = ({ now, stopping, ...parts }: SubscriptionJobs): readonly Job[] => [
  {
    name: 'charge-subscriptions',
    queue: 'schedules',
    due: [dueSubscriptions.isDue, dueAsks.isDue],
    run: async () => {
      await chargeDue(parts, now, { stopping });
      return done;
    },
  },
];

const unfollowed: Statement = {
  name: 'subscription.unfollowed',
  text: `select exists (select 1 from event where follower = 'recurring' and merchant_id = $1 and shop_id = $2
    and sequence > (select sequence from consumer_offset where consumer = 'recurring')) as waiting`,
};

/** How subscriptions follow a shop's test clock. */
export const subscriptionClockParticipant = (deps: ChargingDeps): ClockParticipant => ({
  due: [dueSubscriptions.byClock, dueAsks.byClock],
  next: (shop, now) => nextDueOfShop(deps.pool, shop, now),
  work: (shop, now) => chargeDue(deps, () => now, { timeline: shop }),
  isUnderWay: async ({ merchantId, shopId }) => {
    const [row] = await run<{ waiting: boolean }>(deps.pool, unfollowed, [merchantId, shopId]);
    return row?.waiting === true;
  },
});
