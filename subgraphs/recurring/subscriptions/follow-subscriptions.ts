/** Applies payment events to subscriptions: bindings and charges that have ended. */
import { runSharded, shardedByKey } from '../../platform/database/sharding.ts';
import { columns } from '../../platform/database/statement.ts';
import { standingOf } from './ask-charge.ts';
import { chargeNames } from './find-subscriptions.ts';
import type { OnPaymentsMoved } from '../consume-payments.ts';
import { settleCharges, type ChargeNews } from './settle-charges.ts';
import type { SubscriptionCharge } from './entities.ts';

const find = shardedByKey(
  'subscription_charge.of_payments',
  'payment_id',
  (ofKeys) => `select ${columns(chargeNames)} from subscription_charge where ${ofKeys}`,
);

/**
 * Settles the charges whose payments are final; the first charge activates or cancels the
 * subscription. Idempotent.
 */
export const followSubscriptions: OnPaymentsMoved = async (client, payments) => {
  const charged = payments.filter(({ subscriptionId }) => subscriptionId !== null);
  if (charged.length === 0) return;
  const byId = new Map(charged.map((payment) => [payment.id, payment]));
  const charges = await runSharded<SubscriptionCharge, (typeof charged)[number]>(
    client,
    find,
    charged,
    (own) => [own.map(({ id }) => id)],
  );
  const news = charges.flatMap((charge): ChargeNews[] => {
    const payment = byId.get(charge.paymentId ?? '');
    return payment ? [{ charge, payment: standingOf(payment) }] : [];
  });
  await settleCharges(client, news);
};
