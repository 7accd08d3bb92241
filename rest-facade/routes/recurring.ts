/** Subscriptions, tokens and customers. */
import type {
  CustomerSessionCreateInput,
  ReceiptInput,
  SubscriptionCreateInput,
  SubscriptionStatus,
  TokenCreateInput,
  TokenStatus,
} from '../../schema/generated/operations.ts';
import {
  chargeJson,
  scheduleJson,
  subscriptionJson,
  tokenJson,
  wholePaymentJson,
  withPage,
} from '../../schema/wire.ts';
import {
  row,
  ok,
  created,
  cancelled,
  paged,
  filterOf,
  type Metadata,
  type Empty,
  type ListPage,
} from './route.ts';

export const subscriptions = [
  row<'CreateSubscription', SubscriptionCreateInput>({
    method: 'POST',
    path: '/v1/public/subscriptions',
    operation: 'CreateSubscription',
    field: 'Mutation.subscriptionCreate',
    idempotent: true,
    variables: ({ body, idempotency }) => ({ input: body, idempotency }),
    answer: ({ subscriptionCreate: result }) =>
      created(
        {
          subscription: withPage(subscriptionJson(result.subscription), result.subscription.payUrl),
          initial_payment: wholePaymentJson(result.initialPayment),
          pay_url: result.payUrl,
        },
        result.idempotent,
      ),
  }),
  row<
    'ListSubscriptions',
    Empty,
    ListPage & { customerRef?: string; status?: SubscriptionStatus[] }
  >({
    method: 'GET',
    path: '/v1/public/subscriptions',
    operation: 'ListSubscriptions',
    field: 'Query.billingSubscriptionsConnection',
    kind: 'list',
    variables: ({ query: { limit, cursor, customerRef, status } }) => ({
      first: limit ?? null,
      after: cursor ?? null,
      filter: filterOf({ customerRef, status }),
    }),
    answer: ({ billingSubscriptionsConnection: page }) => paged(page, subscriptionJson),
  }),
  row<'GetSubscription'>({
    method: 'GET',
    path: '/v1/public/subscriptions/{id}',
    operation: 'GetSubscription',
    field: 'Query.billingSubscription',
    variables: ({ id }) => ({ id }),
    answer: ({ billingSubscription }) =>
      billingSubscription &&
      ok(withPage(subscriptionJson(billingSubscription), billingSubscription.payUrl)),
  }),
  row<'GetSubscriptionSchedule'>({
    method: 'GET',
    path: '/v1/public/subscriptions/{id}/schedule',
    operation: 'GetSubscriptionSchedule',
    field: 'Query.billingSubscription',
    variables: ({ id }) => ({ id }),
    answer: ({ billingSubscription }) =>
      billingSubscription && ok(scheduleJson(billingSubscription)),
  }),
  row<'CancelSubscription', { reason?: string }>({
    method: 'POST',
    path: '/v1/public/subscriptions/{id}/cancel',
    operation: 'CancelSubscription',
    field: 'Mutation.subscriptionCancel',
    variables: ({ id, body }) => ({ id, reason: body.reason ?? null }),
    answer: () => cancelled,
  }),
];

export const tokens = [
  row<'CreateToken', TokenCreateInput>({
    method: 'POST',
    path: '/v1/public/tokens',
    operation: 'CreateToken',
    field: 'Mutation.tokenCreate',
    idempotent: true,
    variables: ({ body, idempotency }) => ({ input: body, idempotency }),
    answer: ({ tokenCreate: result }) =>
      created(
        {
          card: withPage(tokenJson(result.token), result.token.payUrl),
          pay_url: result.payUrl,
        },
        result.idempotent,
      ),
  }),
  row<'ListTokens', Empty, ListPage & { customerRef?: string; status?: TokenStatus[] }>({
    method: 'GET',
    path: '/v1/public/tokens',
    operation: 'ListTokens',
    field: 'Query.tokensConnection',
    kind: 'list',
    variables: ({ query: { customerRef, status, limit, cursor } }) => ({
      customerRef: customerRef ?? null,
      status: status ?? null,
      first: limit ?? null,
      after: cursor ?? null,
    }),
    answer: ({ tokensConnection: page }) => paged(page, tokenJson),
  }),
  row<
    'ChargeToken',
    {
      amount: number;
      orderId?: string;
      description?: string;
      receipt?: ReceiptInput;
      metadata?: Metadata;
    }
  >({
    method: 'POST',
    path: '/v1/public/tokens/{id}/charge',
    operation: 'ChargeToken',
    field: 'Mutation.tokenCharge',
    idempotent: true,
    variables: ({ id, body, idempotency }) => ({
      id,
      amount: body.amount,
      orderId: body.orderId ?? null,
      description: body.description ?? null,
      receipt: body.receipt ?? null,
      metadata: body.metadata ?? null,
      idempotency,
    }),
    answer: ({ tokenCharge: result }) => created(chargeJson(result.payment), result.idempotent),
  }),
  row<'CancelToken'>({
    method: 'POST',
    path: '/v1/public/tokens/{id}/cancel',
    operation: 'CancelToken',
    field: 'Mutation.tokenCancel',
    variables: ({ id }) => ({ id }),
    answer: () => cancelled,
  }),
];

export const customers = [
  row<'CreateCustomerSession', CustomerSessionCreateInput>({
    method: 'POST',
    path: '/v1/public/customer-sessions',
    operation: 'CreateCustomerSession',
    field: 'Mutation.customerSessionCreate',
    variables: ({ body }) => ({ input: body }),
    answer: ({ customerSessionCreate: result }) =>
      created({ url: result.url, expires_at: result.expiresAt }, false),
  }),
];
