/** How webhooks follow a shop's test clock: retries come when the clock says so, while the receiver is asked in real time. */
import type { Timekeeper } from '../../kernel/clock/keep-clocks.ts';
import { run, type Statement } from '../../kernel/database/statement.ts';
import { claimDeliveriesOf } from './claim-deliveries.ts';
import { attemptDelivery, deliveryLimits, type DeliveryParts } from './deliver-webhook.ts';
import { openAttemptStore } from './store-attempts.ts';
import { openTargets, type TargetRules } from './webhook-target.ts';

const pendingOf = `from webhook_delivery as delivery join event on event.merchant_id = delivery.merchant_id and event.id = delivery.event_id and event.mode = 'test'
  where delivery.merchant_id = $1 and delivery.shop_id = $2 and delivery.status = 'pending'`;
const next: Statement = { name: 'webhook.next_of_shop', text: `select min(next_attempt_at) as at ${pendingOf} and next_attempt_at > $3` };
const leased: Statement = { name: 'webhook.leased_of_shop', text: `select exists (select ${pendingOf} and lease_until > now()) as found` };

/** The keeper of webhooks. */
export const webhookKeeper = ({ privateTargets, ...given }: Omit<DeliveryParts, 'targets' | 'limits' | 'now' | 'storeAttempt'> & TargetRules): Timekeeper => {
  const targets = openTargets({ privateTargets });
  const storeAttempt = openAttemptStore(given.pool);
  return {
    next: async ({ merchantId, shopId }, now) => {
      const [row] = await run<{ at: Temporal.Instant | null }>(given.pool, next, [merchantId, shopId, now]);
      return row?.at ?? null;
    },
    work: async (shop, now) => {
      const parts: DeliveryParts = { ...given, storeAttempt, targets, limits: deliveryLimits, now: () => now };
      const claimed = await claimDeliveriesOf(parts, shop);
      await Promise.all(claimed.map((delivery) => attemptDelivery(parts, delivery)));
      return claimed.length;
    },
    isUnderWay: async ({ merchantId, shopId }) => {
      const [row] = await run<{ found: boolean }>(given.pool, leased, [merchantId, shopId]);
      return row?.found === true;
    },
  };
};
