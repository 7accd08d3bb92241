/** A shop on openapi-fetch, with the types that openapi-typescript made. It prints what it saw. */
import createClient from 'openapi-fetch';
import type { components, paths } from './openapi-typescript.ts';

type Schemas = components['schemas'];

const { BASE_URL: baseUrl = '', API_KEY: key = '' } = process.env;
const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${key}` } });

/** The least that each body needs: what has a default may be left out. */
const payment: Schemas['PaymentCreate'] = { amount: 10_000 };
const payout: Schemas['PayoutCreate'] = {
  amount: 100,
  phone: '+79161234567',
  bank_id: '100000000111',
};
const batch: Schemas['PayoutBatchCreate'] = { method: 'payouts_sbp', items: [payout] };
const subscription: Schemas['SubscriptionCreate'] = { amount: 100, customer_ref: 'c-1' };
const token: Schemas['TokenCreate'] = { customer_ref: 'c-1' };

/** A new code would not compile here: the codes are a closed list. */
const adviceOf = (code: Schemas['ErrorCode']): string => {
  switch (code) {
    case 'rate_limited':
    case 'unavailable':
    case 'idempotent_in_progress':
      return 'wait';
    case 'insufficient_balance':
      return 'top up';
    default:
      // @ts-expect-error there is no such code
      return code === 'no_such_code' ? 'never' : 'give up';
  }
};

/** The kind of an event says which payload it has. */
const describe = ({ kind, payload }: Schemas['LiveEvent']): string => {
  switch (kind) {
    case 'payment.created':
    case 'payout.created':
      return `${payload.amount} ${payload.status}`;
    case 'payment.status_changed':
    case 'payout.status_changed':
      // @ts-expect-error a change tells no amount
      return payload.amount === undefined ? payload.status : 'never';
    case 'refund.created':
      return `${payload.payment_id} ${payload.amount}`;
  }
};

const created = await client.POST('/v1/public/payments', { body: payment });
const id = created.data?.payment.id ?? '';
await client.POST('/v1/public/payments/{id}/cancel', { params: { path: { id } } });
await client.POST('/v1/public/payments', { body: payment });
const listed = await client.GET('/v1/public/payments', {
  params: { query: { status: ['pending', 'cancelled'], include_test: '0' } },
});
const refused = await client.POST('/v1/public/payouts', { body: payout });
const batched = await client.POST('/v1/public/payouts/batch', { body: batch });
const subscribed = await client.POST('/v1/public/subscriptions', { body: subscription });
const bound = await client.POST('/v1/public/tokens', { body: token });

console.log(
  JSON.stringify({
    currency: created.data?.payment.currency,
    method: created.data?.payment.method,
    asked: new URL(listed.response.url).searchParams.getAll('status'),
    listed: listed.data?.items.map(({ status }) => status).toSorted(),
    refused: refused.error?.error.code,
    advice: refused.error && adviceOf(refused.error.error.code),
    batch: batched.data?.results[0]?.code,
    period: subscribed.data?.subscription.period,
    token: bound.data?.card.method,
    event: describe({
      kind: 'payment.status_changed',
      payload: { id, status: 'cancelled' },
      at: '',
    }),
  }),
);
