/**
 * Pauses and resumes subscriptions, in the operators' or the cabinet's graph. Both write an audit
 * entry.
 */
import { isUuid } from '../../rules/ids.ts';
import { clientOf } from '../../platform/database/orm-connections.ts';
import type { Database } from '../../platform/database/orm.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import { changeEntities, type Acting } from '../../platform/database/audit.ts';
import { paused, resumed, type StandingPatch } from '../rules/subscription.ts';
import { changeSubscription } from './store-subscription.ts';
import type { Subscription, SubscriptionCharge } from './entities.ts';

/** Which subscription, and the reason for the log. */
interface PauseRequest {
  readonly merchantId: string;
  readonly id: string;
  readonly reason: string | null;
  /** The subscription's time, by its shop's clock; the log has the real time. */
  readonly at: Temporal.Instant;
}

type Decide = (
  subscription: Subscription,
  charges: readonly SubscriptionCharge[],
) => StandingPatch | Refusal | 'unchanged';

const change = (
  database: Pick<Database, 'emOf'>,
  acting: Acting,
  action: 'subscription.pause' | 'subscription.resume',
  { merchantId, id, reason, at }: PauseRequest,
  decide: Decide,
): Promise<Subscription | Refusal> => {
  if (!isUuid(id)) return Promise.resolve(refuse('not_found', 'there is no such subscription'));
  return changeEntities(
    database,
    acting,
    { action, merchantId, subject: { kind: 'subscription', id } },
    async (em, notes) => {
      let before: Subscription | null = null;
      const result = await changeSubscription(
        await clientOf(em),
        { merchantId, subscriptionId: id },
        (subscription, charges) => {
          before = subscription;
          const patch = decide(subscription, charges);
          return patch === 'unchanged' || isRefusal(patch) ? patch : { patch, at };
        },
      );
      if (isRefusal(result)) return result;
      const state = (subscription: Subscription | null) =>
        subscription && { status: subscription.status, next_charge_at: subscription.nextChargeAt };
      notes.before = state(before);
      notes.after = { ...state(result), ...(reason === null ? {} : { reason }) };
      return result;
    },
  );
};

/**
 * Pauses a subscription; returns it. Refuses with `not_found`, and with `bad_request` one that is
 * pending or cancelled.
 */
export const pauseSubscription = (
  database: Pick<Database, 'emOf'>,
  acting: Acting,
  request: PauseRequest,
): Promise<Subscription | Refusal> =>
  change(database, acting, 'subscription.pause', request, (subscription) => {
    if (subscription.status === 'paused') return 'unchanged';
    return (
      paused(subscription, request.at) ??
      refuse(
        'bad_request',
        `only an active or past due subscription can be paused; this one is ${subscription.status}`,
      )
    );
  });

/**
 * Ends a pause; returns the subscription. Refuses with `not_found`, and with `bad_request` one that
 * is pending or cancelled.
 */
export const resumeSubscription = (
  database: Pick<Database, 'emOf'>,
  acting: Acting,
  request: Omit<PauseRequest, 'reason'>,
): Promise<Subscription | Refusal> =>
  change(
    database,
    acting,
    'subscription.resume',
    { ...request, reason: null },
    (subscription, charges) => {
      if (subscription.status === 'active' || subscription.status === 'past_due')
        return 'unchanged';
      const isCharging = charges.some(({ status }) => status === 'open');
      return (
        resumed(subscription, isCharging, request.at) ??
        refuse(
          'bad_request',
          `only a paused subscription can be resumed; this one is ${subscription.status}`,
        )
      );
    },
  );
