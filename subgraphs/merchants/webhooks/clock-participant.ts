/**
 * How webhooks follow a shop's test clock: retries come at the clock's time, while the receiver
 * is asked in real time.
 */
import type { ClockParticipant } from '../../kernel/clock/keep-clocks.ts';
import { shownTo } from '../../kernel/clock/test-clocks.ts';
import { run, type Statement } from '../../kernel/database/statement.ts';
import { claimDeliveriesOf } from './claim-deliveries.ts';
import { dueByClock } from './claim-statements.ts';
import { attemptDelivery, deliveryLimits, type DeliveryParts } from './deliver-webhook.ts';
import { openAttemptStore } from './store-attempts.ts';
import type { TargetSwitch } from '../../kernel/service/webhook-url.ts';
import { openTargets } from './webhook-target.ts';

const pendingOf = `from webhook_delivery as delivery join event on event.merchant_id = $1 and event.id = delivery.event_id and event.mode = 'test'
  where delivery.merchant_id = $1 and delivery.shop_id = $2 and delivery.status = 'pending'`;
const next: Statement = {
  name: 'webhook.next_of_shop',
  text: `select min(next_attempt_at) as at ${pendingOf} and next_attempt_at > $3`,
};
const leased: Statement = {
  name: 'webhook.leased_of_shop',
  text: `select exists (select 1 ${pendingOf} and lease_until > now()) as found`,
};

export interface ParticipantParts
  extends Omit<DeliveryParts, 'targets' | 'limits' | 'now' | 'storeAttempt'>, TargetSwitch {
  /** The real time. */
  readonly now: () => Temporal.Instant;
  /** The attempts that are under way: whoever ends the process waits for them. */
  readonly attempts: Set<Promise<void>>;
  /** For tests that cannot wait for the real ones. */
  readonly limits?: DeliveryParts['limits'];
}

/**
 * The keeper of webhooks. It begins attempts and does not wait for them, so that a receiver that
 * hangs holds up nothing but its own shop's clock, and that only where it advances. A running clock
 * runs on meanwhile, and a retry is counted from what it shows when the attempt ends.
 */
export const webhookClockParticipant = ({
  privateTargets,
  attempts,
  now: realNow,
  limits = deliveryLimits,
  ...given
}: ParticipantParts): ClockParticipant => {
  const targets = openTargets({ privateTargets });
  const storeAttempt = openAttemptStore(given.pool);
  return {
    due: [dueByClock],
    next: async ({ merchantId, shopId }, now) => {
      const [row] = await run<{ at: Temporal.Instant | null }>(given.pool, next, [
        merchantId,
        shopId,
        now,
      ]);
      return row?.at ?? null;
    },
    work: async (shop, now) => {
      const parts: DeliveryParts = {
        ...given,
        storeAttempt,
        targets,
        limits,
        now: () => shownTo(given.pool, shop, realNow()),
      };
      const claimed = await claimDeliveriesOf(parts, now, shop);
      for (const delivery of claimed) {
        const attempt = attemptDelivery(parts, delivery).finally(() => attempts.delete(attempt));
        attempts.add(attempt);
      }
      return claimed.length;
    },
    isUnderWay: async ({ merchantId, shopId }) => {
      const [row] = await run<{ found: boolean }>(given.pool, leased, [merchantId, shopId]);
      return row?.found === true;
    },
  };
};
