/**
 * The facade is this table: one row per documented route, by subject in `routes/`.
 * `schema/openapi.yaml` defines valid requests.
 */
import type { WebhookEvent as GraphEvent } from '../schema/generated/operations.ts';
import { loggedEventJson } from '../schema/wire.ts';
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
  type Asking,
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

interface EventLogQuery extends Omit<Page, 'cursor'> {
  readonly after?: string;
  readonly event?: WebhookEvent[];
  readonly subjectId?: string;
}

const eventLog = [
  row('GET', '/event-log', 'ListEventLog', 'Query.eventLog', {
    variables: ({ query }: Asking<EventLogQuery>) => ({
      ...pageVariables({ ...query, cursor: query.after }),
      events: query.event?.map((name): GraphEvent => graphKindOf(name)),
      subjectId: query.subjectId,
    }),
    answer: ({ eventLog: page }) => ok({ ...page, items: page.items.map(loggedEventJson) }),
  }),
  row('GET', '/event-log/{id}', 'GetLoggedEvent', 'Query.loggedEvent', {
    idPrefix: 'evt_',
    variables: ({ id }) => ({ id }),
    answer: ({ loggedEvent }) => loggedEvent && ok(loggedEventJson(loggedEvent)),
  }),
];

const requests = [
  row('GET', '/requests', 'ListRequests', 'Query.apiRequests', {
    variables: ({ query }: Asking<Page<string>>) => ({
      ...pageVariables(query),
      status: query.status?.map(Number),
    }),
    answer: ({ apiRequests: page }) => paged(page),
  }),
  row('GET', '/requests/{id}', 'GetRequest', 'Query.apiRequest', {
    idForm: /^[A-Za-z0-9._:-]{1,128}$/,
    variables: ({ id }) => ({ id }),
    answer: ({ apiRequest }) => apiRequest && ok(apiRequest),
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
