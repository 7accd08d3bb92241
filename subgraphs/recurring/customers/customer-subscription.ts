/** What a customer reads of one subscription: what was agreed to, what was charged, what is paid. */
import type { CustomerCharge } from '../../../schema/generated/recurring.ts';
import { columns, run, type Runner, type Statement } from '../../platform/database/statement.ts';
import type { Payments } from '../ask-payments.ts';
import { agreedAt, periodEnd } from '../rules/subscription.ts';
import type { Subscription, SubscriptionCharge } from '../subscriptions/entities.ts';
import { chargeNames, loadSubscriptions } from '../subscriptions/find-subscriptions.ts';
import { isShown, type CustomerDeps } from './customer-page.ts';
import type { CustomerPage } from './customer-session.ts';

export interface CustomerSubscription {
  readonly subscription: Subscription;
  readonly agreedAt: Temporal.Instant | null;
  readonly paidUntil: Temporal.Instant | null;
  readonly charges: CustomerCharge[];
  readonly hasOlderCharges: boolean;
}

const charges_max = 50;

// By the primary key, backwards; one more says whether there are older ones.
const newestCharges: Statement = {
  name: 'customer.charges',
  text: `select ${columns(chargeNames)} from subscription_charge where merchant_id = $1 and subscription_id = $2
    order by period desc, attempt desc limit ${charges_max + 1}`,
};

/** The charges, with what was refunded of their payments. */
const withRefunds = async (
  payments: Pick<Payments, 'read'>,
  charges: readonly SubscriptionCharge[],
): Promise<CustomerCharge[]> => {
  const ids = charges.flatMap(({ merchantId, paymentId: id }) => (id ? [{ merchantId, id }] : []));
  const read = ids.length === 0 ? [] : await payments.read(ids);
  const refunded = new Map(read.map((one) => [one?.id, one?.amountRefunded ?? 0n]));
  return charges.map((charge) => {
    const { period, amount, currency, status, failureCode, paymentId } = charge;
    const amountRefunded = (paymentId && refunded.get(paymentId)) || 0n;
    const at = charge.settledAt ?? charge.createdAt;
    return { period, amount, currency, status, failureCode, amountRefunded, at };
  });
};

/** The last period of which something stays paid; a trial's verification is always given back. */
const lastPaid = (charges: readonly CustomerCharge[]): number | null =>
  charges.find(
    ({ status, period, amount, amountRefunded }) =>
      status === 'succeeded' && (period === 0 || amountRefunded < amount),
  )?.period ?? null;

const paidUntil = (
  subscription: Subscription,
  charges: readonly CustomerCharge[],
  now: Temporal.Instant,
): Temporal.Instant | null => {
  const period = lastPaid(charges);
  if (period === null || subscription.anchorAt === null) return null;
  const end = periodEnd(subscription, period);
  return Temporal.Instant.compare(now, end) < 0 ? end : null;
};

const chargesOf = (runner: Runner, { merchantId, id }: Subscription) =>
  run<SubscriptionCharge>(runner, newestCharges, [merchantId, id]);

/** One subscription of a page's customer, also an ended one; null when the page has none such. */
export const findCustomerSubscription = async (
  { database: { pool }, payments, clocks }: CustomerDeps,
  page: CustomerPage,
  id: string,
): Promise<CustomerSubscription | null> => {
  const key = { merchantId: page.merchantId, id };
  const [subscription] = await loadSubscriptions(pool, [key]);
  if (!subscription || !isShown(page, subscription)) return null;
  const found = await chargesOf(pool, subscription);
  const charges = await withRefunds(payments, found.slice(0, charges_max));
  const now = await clocks.timeOf({ kind: 'subscription', ...key });
  return {
    subscription,
    agreedAt: agreedAt(subscription),
    paidUntil: paidUntil(subscription, charges, now),
    charges,
    hasOlderCharges: found.length > charges_max,
  };
};
