/**
 * How webhooks follow a shop's test clock: a retry has no `due_at` until the clock reaches its
 * moment. It is then delivered in real time like any other.
 */
import { raw } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { ClockParticipant } from '../../platform/clock/keep-clocks.ts';
import { isNoDeadLetter } from '../../platform/alerts/dead-letters.ts';
import type { OnDatabase } from '../../platform/database/orm.ts';
import { WebhookDeliveryEntity } from '../entities.ts';
import { task } from './deliveries.ts';
import type { ShopKey } from '../keys/api-keys.ts';
import type { WakeLanes } from './deliverer.ts';

/** Retries that wait for the shop's test clock. */
const waiting = ({ merchantId, shopId }: ShopKey) =>
  ({ merchantId, shopId, status: 'pending', dueAt: null }) as const;

interface ParticipantDeps extends OnDatabase<'fork'> {
  /** The real time. */
  readonly now: () => Temporal.Instant;
  readonly wake: WakeLanes;
}

/**
 * The clock participant of webhooks. It does not wait for attempts, so a hanging receiver delays
 * only its own shop's clock, and only while that clock advances.
 */
export const webhookClockParticipant = ({
  database,
  now: realNow,
  wake,
}: ParticipantDeps): ClockParticipant => ({
  due: [
    `from clock join webhook_delivery as delivery on delivery.merchant_id = clock.merchant_id and delivery.shop_id = clock.shop_id
      where delivery.status = 'pending' and delivery.due_at is null and delivery.next_attempt_at <= clock.at`,
  ],
  next: async (shop, now) => {
    const later = { ...waiting(shop), nextAttemptAt: { $gt: now } };
    const order = { orderBy: { nextAttemptAt: 'asc' }, disableIdentityMap: true } as const;
    const first = await database.fork().findOne(WebhookDeliveryEntity, later, order);
    return first?.nextAttemptAt ?? null;
  },
  work: async (shop, now) => {
    const em = database.fork();
    const due = { ...waiting(shop), nextAttemptAt: { $lte: now } };
    // One that comes after this look is found by the deliverer itself.
    const lanes = await em.find(WebhookDeliveryEntity, due, {
      fields: ['lane'],
      disableIdentityMap: true,
    });
    const made = await em.nativeUpdate(WebhookDeliveryEntity, due, { dueAt: realNow() });
    if (made > 0) wake(lanes);
    return made;
  },
  isUnderWay: async ({ merchantId, shopId }) => {
    const underWay = await database.fork().findOne(
      WebhookDeliveryEntity,
      {
        ...({ merchantId, shopId, mode: 'test', status: 'pending' } as const),
        $or: [
          { leaseUntil: { $gt: raw('now()') } },
          { dueAt: { $lte: realNow() }, [isNoDeadLetter(task, merchantId)]: [] },
        ],
      },
      { fields: ['id'] },
    );
    return underWay !== null;
  },
});

/** Has a shop's retries follow the test clock that it gets in this transaction. */
export const followClock = (em: EntityManager, { merchantId, shopId }: ShopKey): Promise<number> =>
  em.nativeUpdate(
    WebhookDeliveryEntity,
    {
      merchantId,
      shopId,
      mode: 'test',
      status: 'pending',
      attempts: { $gt: raw('attempts_before') },
    },
    { dueAt: null },
  );

/** Has a shop's retries follow the real time, in the transaction that removes its test clock. */
export const followRealTime = (em: EntityManager, shop: ShopKey): Promise<number> => {
  const dueAt = raw('next_attempt_at');
  return em.nativeUpdate(WebhookDeliveryEntity, waiting(shop), { dueAt });
};
