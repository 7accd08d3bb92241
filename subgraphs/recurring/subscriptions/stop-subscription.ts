/**
 * Cancels, pauses and resumes subscriptions. One can be cancelled in any state, and twice: future
 * charges stop, payments already made stay. The binding payment of a pending subscription is
 * cancelled too.
 */
import type pg from 'pg';
import { reason_max_chars } from '../../../schema/limits.ts';
import type { KeyPrincipal } from '../../platform/access/principal.ts';
import { changeEntities, type Acting } from '../../platform/database/audit.ts';
import { clientOf } from '../../platform/database/orm-connections.ts';
import type { Database } from '../../platform/database/orm.ts';
import { inTransaction } from '../../platform/database/statement.ts';
import { isUuid } from '../../rules/ids.ts';
import { isRefusal, refuse, type Refusal, textMistake } from '../../rules/refusal.ts';
import type { Payments } from '../ask-payments.ts';
import { findCharges, loadSubscriptions } from '../find-recurring.ts';
import {
  ended,
  type EndReason,
  paused,
  resumed,
  type StandingPatch,
} from '../rules/subscription.ts';
import type { Subscription, SubscriptionCharge } from '../entities.ts';
import { changeSubscription, type SubscriptionChange } from './store-subscription.ts';

interface CancelRequest {
  readonly id: string;
  readonly reason: string | null;
  readonly requestId: string;
  /** Writes the log entry, in the transaction that cancels. */
  readonly record?: (client: pg.PoolClient, before: Subscription) => Promise<void>;
}

/** The first charge while it is not settled. */
const openBinding = (charges: readonly SubscriptionCharge[]): SubscriptionCharge | undefined =>
  charges.find(({ kind, status }) => kind === 'subscription_init' && status === 'open');

/** `isUnmade`: the binding payment does not exist, and must not be created any more. */
const cancelled = (
  subscription: Subscription,
  charges: readonly SubscriptionCharge[],
  reason: string | null,
  isUnmade: boolean,
  now: Temporal.Instant,
): Omit<SubscriptionChange, 'before'> | 'unchanged' => {
  if (subscription.status === 'cancelled') {
    // Its just cancelled binding payment may have ended it first: the merchant's own reason
    // applies.
    const endedFirst =
      subscription.cancelReason === ('binding_cancelled' satisfies EndReason) && reason !== null;
    return endedFirst ? { patch: { cancelReason: reason }, at: now } : 'unchanged';
  }
  const patch = ended(subscription, 'cancelled', now, reason);
  const binding = openBinding(charges);
  return binding && isUnmade
    ? { patch, charge: { ...binding, status: 'cancelled', askAt: null, settledAt: now }, at: now }
    : { patch, at: now };
};

/**
 * Cancels a subscription of the key's merchant and mode; `not_found` when there is none. The
 * binding payment is cancelled first: after a crash its event cancels the subscription. Once the
 * buyer has continued to the bank, it cannot be cancelled; the payment decides.
 */
export const cancelSubscription = async (
  pool: pg.Pool,
  payments: Pick<Payments, 'cancelBinding'>,
  caller: Pick<KeyPrincipal, 'merchantId' | 'mode'>,
  { id, reason, requestId, record }: CancelRequest,
  now: Temporal.Instant,
): Promise<Subscription | Refusal> => {
  const mistake = textMistake('reason', reason, 0, reason_max_chars);
  if (mistake) return refuse('bad_request', mistake);
  const [found] = await loadSubscriptions(pool, [{ merchantId: caller.merchantId, id }]);
  if (found?.mode !== caller.mode) return refuse('not_found', 'there is no such subscription');
  const { merchantId } = found;
  const [charges = []] = await findCharges(pool, [found]);
  const paymentId = openBinding(charges)?.paymentId;
  const asked = paymentId
    ? await payments.cancelBinding({ merchantId, id: paymentId }, requestId)
    : null;
  const refusal = asked && isRefusal(asked) ? asked.code : null;
  if (refusal && refusal !== 'not_pending' && refusal !== 'not_found')
    throw new Error(`payment ${paymentId} was not cancelled: ${refusal}`);
  const decide = (subscription: Subscription, known: readonly SubscriptionCharge[]) =>
    cancelled(subscription, known, reason, refusal === 'not_found', now);
  const key = { merchantId, subscriptionId: found.id };
  return inTransaction(pool, async (client) => {
    let before: Subscription | null = null;
    const changed = await changeSubscription(client, key, (subscription, known) => {
      const change = decide(subscription, known);
      before = change === 'unchanged' ? null : subscription;
      return change;
    });
    if (before && !isRefusal(changed)) await record?.(client, before);
    return changed;
  });
};

// Pauses and resumes subscriptions, in the operators' or the cabinet's graph. Both write an audit
// entry.

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
  return changeEntities(database, acting, { action, merchantId, id }, async (em, notes) => {
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
  });
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
