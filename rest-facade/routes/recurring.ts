/** Subscriptions, tokens and customers. */
import type * as graph from '../../schema/generated/operations.ts';
import { chargeJson, scheduleJson, wholePaymentJson } from '../../schema/wire.ts';
import {
  row,
  ok,
  created,
  cancelled,
  paged,
  filterOf,
  bodyAsInput,
  type Giving,
  type Asking,
  type ValidRequest,
} from './route.ts';

/** A page of a list that is answered as a whole by default: `server.ts`. */
interface CustomersPage<Status> {
  readonly customerRef?: string;
  readonly status?: Status[];
  readonly limit?: number;
  readonly cursor?: string;
}

export const subscriptions = [
  row('POST', '/subscriptions', 'CreateSubscription', 'Mutation.subscriptionCreate', {
    idempotent: true,
    variables: bodyAsInput<graph.SubscriptionCreateInput>,
    answer: ({ subscriptionCreate: { idempotent, ...result } }) =>
      created({ ...result, initial_payment: wholePaymentJson(result.initial_payment) }, idempotent),
  }),
  row('GET', '/subscriptions', 'ListSubscriptions', 'Query.billingSubscriptionsConnection', {
    kind: 'list',
    variables: ({ query }: Asking<CustomersPage<graph.SubscriptionStatus>>) => {
      const { limit, cursor, ...fields } = query;
      return { first: limit, after: cursor, filter: filterOf(fields) };
    },
    answer: ({ billingSubscriptionsConnection: page }) => paged(page),
  }),
  row('GET', '/subscriptions/{id}', 'GetSubscription', 'Query.billingSubscription', {
    variables: ({ id }) => ({ id }),
    answer: ({ billingSubscription }) => billingSubscription && ok(billingSubscription),
  }),
  row(
    'GET',
    '/subscriptions/{id}/schedule',
    'GetSubscriptionSchedule',
    'Query.billingSubscription',
    {
      variables: ({ id }) => ({ id }),
      answer: ({ billingSubscription }) =>
        billingSubscription && ok(scheduleJson(billingSubscription)),
    },
  ),
  row('POST', '/subscriptions/{id}/cancel', 'CancelSubscription', 'Mutation.subscriptionCancel', {
    variables: ({ id, body }: ValidRequest<{ reason?: string }>) => ({ ...body, id }),
    answer: () => cancelled,
  }),
];

export const tokens = [
  row('POST', '/tokens', 'CreateToken', 'Mutation.tokenCreate', {
    idempotent: true,
    variables: bodyAsInput<graph.TokenCreateInput>,
    answer: ({ tokenCreate: { idempotent, ...result } }) => created(result, idempotent),
  }),
  row('GET', '/tokens', 'ListTokens', 'Query.tokensConnection', {
    kind: 'list',
    variables: ({ query: { limit, cursor, ...of } }: Asking<CustomersPage<graph.TokenStatus>>) => ({
      first: limit,
      after: cursor,
      ...of,
    }),
    answer: ({ tokensConnection: page }) => paged(page),
  }),
  row('POST', '/tokens/{id}/charge', 'ChargeToken', 'Mutation.tokenCharge', {
    idempotent: true,
    variables: ({ id, body, idempotency }: Giving<graph.ChargeTokenMutationVariables>) => ({
      ...body,
      id,
      idempotency,
    }),
    answer: ({ tokenCharge: result }) => created(chargeJson(result.payment), result.idempotent),
  }),
  row('POST', '/tokens/{id}/cancel', 'CancelToken', 'Mutation.tokenCancel', {
    variables: ({ id }) => ({ id }),
    answer: () => cancelled,
  }),
];

export const customers = [
  row('POST', '/customer-sessions', 'CreateCustomerSession', 'Mutation.customerSessionCreate', {
    variables: ({ body }: ValidRequest<graph.CustomerSessionCreateInput>) => ({ input: body }),
    answer: ({ customerSessionCreate: result }) => created(result, false),
  }),
];
