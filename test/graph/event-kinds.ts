/** Events of the live stream, and what a subscription can select of each. */

export interface Kind {
  readonly kind:
    | 'payment.created'
    | 'refund.created'
    | 'payout.created'
    | 'subscription.status_changed';
  readonly field: string;
  readonly event: string;
  /** The field of the event that is its object, and the object's table. */
  readonly object: 'payment' | 'refund' | 'payout' | 'subscription';
  /** Of the first of its events. */
  readonly sequence: string;
  readonly nested: readonly string[];
}

export const payments: Kind = {
  kind: 'payment.created',
  field: 'paymentCreated',
  event: 'PaymentCreatedEvent',
  object: 'payment',
  sequence: '1000',
  nested: [
    'shop { name }',
    'merchant { name rateLimit { burst } }',
    'merchant { shops { id name } }',
    'shop { merchant { name shops { terminalId } } }',
    'refunds { id amount }',
    'refunds { status payment { id amount refunds { id } } }',
    'refunds { id payment { shop { name } } }',
    'webhookDeliveries { id status }',
    'webhookDeliveries { url attemptLog { number status } }',
  ],
};
/** The same, with what operators alone may select. */
export const paymentsOfOperators: Kind = {
  ...payments,
  nested: [
    ...payments.nested,
    'shop { apiKeys(first: 3) { nodes { id prefix } } }',
    'shop { webhookEndpoints { id url } }',
  ],
};
export const refunds: Kind = {
  kind: 'refund.created',
  field: 'refundCreated',
  event: 'RefundCreatedEvent',
  object: 'refund',
  sequence: '2000',
  nested: [
    'payment { id amount }',
    'payment { shop { name } }',
    'payment { merchant { name } }',
    'payment { refunds { id status } }',
    'payment { webhookDeliveries { id } }',
    'payment { webhookDeliveries { attemptLog { number } } }',
  ],
};
export const payouts: Kind = {
  kind: 'payout.created',
  field: 'payoutCreated',
  event: 'PayoutCreatedEvent',
  object: 'payout',
  sequence: '3000',
  nested: [
    'shop { name }',
    'shop { terminalName }',
    'merchant { name }',
    'merchant { shops { id } }',
    'shop { merchant { name } }',
    'recipient { fullName }',
  ],
};
export const subscriptions: Kind = {
  kind: 'subscription.status_changed',
  field: 'subscriptionStatusChanged',
  event: 'SubscriptionStatusChangedEvent',
  object: 'subscription',
  sequence: '4000',
  nested: [
    'shop { name }',
    'token { id cardMask }',
    'token { shop { name } }',
    'charges { period status }',
    'charges { period payment { id amount } }',
    'charges { payment { refunds { id } } }',
  ],
};
