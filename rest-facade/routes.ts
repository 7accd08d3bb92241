/**
 * The facade is this table: one row per documented route, by subject in `routes/`.
 * `schema/openapi.yaml` defines valid requests.
 */
import { deliveredEventJson, loggedEventJson } from '../schema/event-log-json.ts';
import type { WebhookEvent as GraphEvent } from '../schema/generated/operations.ts';
import { requestJson } from '../schema/wire.ts';
import { graphKindOf, type WebhookEvent } from '../subgraphs/rules/event.ts';
import { links, payments } from './routes/payments.ts';
import { money, payouts } from './routes/payouts.ts';
import { customers, subscriptions, tokens } from './routes/recurring.ts';
import {
  bodyLimit_bytes,
  type Route,
  row,
  ok,
  paged,
  pageVariables,
  type Empty,
  type Page,
} from './routes/route.ts';

const events: Route = {
  method: 'GET',
  path: '/v1/public/events',
  operation: 'StreamEvents',
  field: 'Subscription.events',
  idempotent: false,
  bodyLimit_bytes,
  kind: 'stream',
  // The stream itself is rest-facade/event-stream.ts.
  variables: () => ({}),
  answer: () => null,
};

const eventLog = [
  row<
    'ListEventLog',
    Empty,
    Omit<Page, 'cursor'> & { after?: string; event?: WebhookEvent[]; subjectId?: string }
  >({
    method: 'GET',
    path: '/v1/public/event-log',
    operation: 'ListEventLog',
    field: 'Query.eventLog',
    variables: ({ query: { limit, after, event, from, to, subjectId } }) => ({
      first: limit,
      after: after ?? null,
      events: event?.map((name): GraphEvent => graphKindOf(name)) ?? null,
      from: from ?? null,
      to: to ?? null,
      subjectId: subjectId ?? null,
    }),
    answer: ({ eventLog: { items, hasMore, lastId } }) =>
      ok({ items: items.map(loggedEventJson), has_more: hasMore, last_id: lastId }),
  }),
  row<'GetLoggedEvent'>({
    method: 'GET',
    path: '/v1/public/event-log/{id}',
    idPrefix: 'evt_',
    operation: 'GetLoggedEvent',
    field: 'Query.loggedEvent',
    variables: ({ id }) => ({ id }),
    answer: ({ loggedEvent }) => loggedEvent && ok(deliveredEventJson(loggedEvent)),
  }),
];

const requests = [
  row<'ListRequests', Empty, Page & { status?: string[] }>({
    method: 'GET',
    path: '/v1/public/requests',
    operation: 'ListRequests',
    field: 'Query.apiRequests',
    variables: ({ query }) => ({
      ...pageVariables(query),
      status: query.status?.map(Number) ?? null,
    }),
    answer: ({ apiRequests: page }) => paged(page, requestJson),
  }),
  row<'GetRequest'>({
    method: 'GET',
    path: '/v1/public/requests/{id}',
    idForm: /^[A-Za-z0-9._:-]{1,128}$/,
    operation: 'GetRequest',
    field: 'Query.apiRequest',
    variables: ({ id }) => ({ id }),
    answer: ({ apiRequest }) =>
      apiRequest &&
      ok({
        ...requestJson(apiRequest),
        request_body: apiRequest.requestBody,
        response_body: apiRequest.responseBody,
      }),
  }),
];

export const routes: readonly Route[] = [
  ...payments,
  ...payouts,
  ...money,
  ...subscriptions,
  ...tokens,
  ...customers,
  ...links,
  ...eventLog,
  ...requests,
  events,
];
