/**
 * Applies the outcomes of charges' payments to their subscriptions, from the answer of payments or
 * from a payment's event. A charge is settled once: a second report finds it settled.
 */
import { runByMerchant } from '../../platform/database/sql-file.ts';
import { columns, type Runner, type Statement } from '../../platform/database/statement.ts';
import type { FailureCode } from '../../rules/failure-code.ts';
import { chargeNames, loadSubscriptions } from '../find-recurring.ts';
import { bindingSettled, settled, chargeEnd, type PaymentStatus } from '../rules/subscription.ts';
import { keysOf, storeSubscriptions, type SubscriptionChange } from './store-subscription.ts';
import type { ChargeStatus, Subscription, SubscriptionCharge } from '../entities.ts';

/** Where a charge's payment stands. */
export interface ChargePayment {
  /** Null when payments refused to make one. */
  readonly id: string | null;
  readonly status: PaymentStatus;
  readonly failureCode: FailureCode | null;
  /** When it came to that. */
  readonly at: Temporal.Instant;
}

export interface ChargeNews {
  readonly charge: SubscriptionCharge;
  readonly payment: ChargePayment;
}

const statusOf = {
  succeeded: 'succeeded',
  failed: 'failed',
  dropped: 'cancelled',
} as const satisfies Record<string, ChargeStatus>;

/** What the news changes; null when there is nothing new in it. */
const changeOf = (
  before: Subscription,
  charge: SubscriptionCharge,
  payment: ChargePayment,
): SubscriptionChange | null => {
  const end = chargeEnd(payment.status, payment.failureCode);
  if (charge.status !== 'open' || end === null) return null;
  const { id, at } = payment;
  const patch =
    charge.kind === 'subscription_init'
      ? bindingSettled(before, payment.status, at)
      : settled(before, charge, end, at);
  const failureCode = end.kind === 'failed' ? end.failureCode : null;
  return {
    before,
    patch,
    charge: {
      ...charge,
      status: statusOf[end.kind],
      paymentId: id,
      failureCode,
      askAt: null,
      settledAt: at,
    },
    at,
  };
};

const load: Statement = {
  name: 'subscription_charge.load',
  text: `select ${columns(chargeNames, 'charge')} from unnest($2::uuid[], $3::int[], $4::int[]) as wanted(subscription_id, period, attempt)
    join subscription_charge as charge using (subscription_id, period, attempt) where charge.merchant_id = $1`,
};

const nameOf = ({ subscriptionId, period, attempt }: SubscriptionCharge): string =>
  `${subscriptionId}/${period}/${attempt}`;

const races_max = 20;

/**
 * Settles charges whose payments are final, several in one statement; news of payments that are not
 * final is passed over.
 */
export const settleCharges = async (runner: Runner, news: readonly ChargeNews[]): Promise<void> => {
  let left = news;
  for (let race = 0; left.length > 0; race += 1) {
    if (race === races_max)
      throw new Error(
        `the subscriptions of ${left.length} charges were written by others ${races_max} times in a row`,
      );
    const unsettled = left.map(({ charge }) => charge);
    // The subscriptions first: what is settled after this read has grown their versions.
    const subscriptions = await loadSubscriptions(
      runner,
      unsettled.map(({ merchantId, subscriptionId }) => ({ merchantId, id: subscriptionId })),
    );
    const charges = await runByMerchant<SubscriptionCharge, SubscriptionCharge>(
      runner,
      load,
      unsettled,
      keysOf,
    );
    const asTheyAre = new Map(charges.map((charge) => [nameOf(charge), charge]));
    const changes = left.flatMap(({ charge, payment }, index) => {
      const [before, now] = [subscriptions[index], asTheyAre.get(nameOf(charge))];
      const change = before && now && changeOf(before, now, payment);
      return change ? [change] : [];
    });
    const stored = await storeSubscriptions(runner, changes);
    const lost = new Set(
      changes.filter(({ before }) => !stored.has(before.id)).map(({ before }) => before.id),
    );
    left = left.filter(({ charge }) => lost.has(charge.subscriptionId));
  }
};
