/**
 * Cancels a subscription in any state: future charges stop, payments already made stay. Idempotent.
 * The binding payment of a pending subscription is cancelled too.
 */
import { reason_max_chars } from '../../../schema/limits.ts';
import type pg from 'pg';
import { inTransaction } from '../../platform/database/statement.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import { textMistake } from '../../rules/texts.ts';
import type { KeyPrincipal } from '../../platform/access/principal.ts';
import type { Payments } from '../ask-payments.ts';
import { findCharges, loadSubscriptions } from './find-subscriptions.ts';
import { ended, type EndReason } from '../rules/subscription.ts';
import { changeSubscription, type SubscriptionChange } from './store-subscription.ts';
import type { Subscription, SubscriptionCharge } from './entities.ts';

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
  {
    reason,
    isUnmade,
    now,
  }: { readonly reason: string | null; readonly isUnmade: boolean; readonly now: Temporal.Instant },
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
  {
    pool,
    payments,
  }: { readonly pool: pg.Pool; readonly payments: Pick<Payments, 'cancelBinding'> },
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
  const how = { reason, isUnmade: refusal === 'not_found', now };
  const key = { merchantId, subscriptionId: found.id };
  if (!record)
    return changeSubscription(pool, key, (subscription, known) =>
      cancelled(subscription, known, how),
    );
  return inTransaction(pool, async (client) => {
    let before: Subscription | null = null;
    const changed = await changeSubscription(client, key, (subscription, known) => {
      const change = cancelled(subscription, known, how);
      before = change === 'unchanged' ? null : subscription;
      return change;
    });
    if (before && !isRefusal(changed)) await record(client, before);
    return changed;
  });
};
