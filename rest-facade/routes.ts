/**
 * The facade is this table: one row per documented route, by subject in `routes/`.
 * `schema/openapi.yaml` defines valid requests.
 */
import { eventLog, requests } from './routes/logs.ts';
import { links, payments } from './routes/payments.ts';
import { money, payouts } from './routes/payouts.ts';
import { customers, subscriptions, tokens } from './routes/recurring.ts';
import { bodyLimit_bytes, type Route } from './routes/route.ts';

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

/** Every documented route. */
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
