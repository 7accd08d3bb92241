/** What an assistant may do: each tool with what it takes; reads, and what changes something. */
import { enums } from '../../generated/enums.ts';
import type { PaymentClient } from '../../client.ts';
import type { Schemas } from '../../schemas.ts';

/** Money of one currency, in minor units. */
export interface Sum {
  readonly amount: number;
  readonly currency: string;
}

/** What a tool was called with, as its schema has let it through. */
export type Arguments = Readonly<Record<string, unknown>>;

interface Tool {
  readonly name: string;
  readonly says: string;
  /** JSON Schema of each argument. */
  readonly takes: Readonly<Record<string, object>>;
  readonly needs?: readonly string[];
}

export interface ReadTool extends Tool {
  readonly call: (client: PaymentClient, given: Arguments) => Promise<object>;
}

export interface WriteTool extends Tool {
  /** How much money it is about; 0 where it moves none. */
  readonly amount: (client: PaymentClient, given: Arguments) => Promise<Sum>;
  readonly call: (client: PaymentClient, given: Arguments, key: string) => Promise<object>;
}

const id = { type: 'string', format: 'uuid', description: "the object's id" };
const amount = { type: 'integer', minimum: 1, description: 'minor units: 10000 is 100.00' };
const text = (description: string): object => ({ type: 'string', description, maxLength: 255 });
const day = (description: string): object => ({ type: 'string', format: 'date', description });
const oneOf = (values: readonly string[], description: string): object => ({
  type: 'string',
  enum: values,
  description,
});
const limit = { type: 'integer', minimum: 1, maximum: 100, description: '20 when left out' };
const period = { from: day('first day, UTC'), to: day('last day, UTC') };
const moment = (description: string): object => ({
  type: 'string',
  format: 'date-time',
  description,
});
/** Instead of days. */
const moments = {
  created_from: moment('made at this moment or later, RFC 3339; not together with from or to'),
  created_to: moment('made before this moment, RFC 3339; not together with from or to'),
};
const metadata = {
  type: 'object',
  maxProperties: 20,
  additionalProperties: { type: 'string', maxLength: 500 },
  description: 'pairs of your own, returned unchanged',
};
const customer_ref = text('of this customer, by exactly this reference');

/** Raised to do the same once more: equal calls are one. */
const repeat = {
  type: 'integer',
  minimum: 0,
  description: 'equal calls are carried out once; raise this to do the same again on purpose',
};

const idOf = ({ id: given }: Arguments): string => String(given);
const countOf = ({ limit: given }: Arguments): number => (typeof given === 'number' ? given : 20);
const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** The query of a list: what was given, with the page no longer than what is wanted. */
const queryOf = (given: Arguments): Record<string, unknown> => {
  const { limit: _, status, ...rest } = given;
  return { ...rest, ...(status === undefined ? {} : { status: [status] }), limit: countOf(given) };
};

const reading = (
  name: string,
  says: string,
  call: (client: PaymentClient, id: string) => Promise<object>,
  named: object = id,
): ReadTool => ({
  name,
  says,
  takes: { id: named },
  needs: ['id'],
  call: (client, given) => call(client, idOf(given)),
});

/** A tool that lists objects; it also takes how many. */
const listing = (
  name: string,
  says: string,
  takes: Tool['takes'],
  list: (
    client: PaymentClient,
    query: Record<string, unknown>,
  ) => { first(count: number): Promise<object[]> },
): ReadTool => ({
  name,
  says,
  takes: { ...takes, limit },
  call: async (client, given) => ({
    items: await list(client, queryOf(given)).first(countOf(given)),
  }),
});

export const readTools: readonly ReadTool[] = [
  {
    name: 'balance_get',
    says: 'The balance, and how much of it can be paid out.',
    takes: {
      currency: { type: 'string', pattern: '^[A-Z]{3}$', description: 'RUB when left out' },
    },
    call: (client, { currency }) =>
      client.balance.get(typeof currency === 'string' ? { currency } : {}),
  },
  {
    name: 'rates_list',
    says: 'The commission rates of the shop.',
    takes: {},
    call: (client) => client.rates.list(),
  },
  reading(
    'payments_get',
    'One payment with its status and its refunds.',
    (client, one) => client.payments.get(one),
    text("the payment's id, or its public number, as P-100063"),
  ),
  listing(
    'payments_list',
    'Payments of the shop, newest first.',
    {
      status: oneOf(enums.PaymentStatus, 'of one status'),
      order_id: text('of this order, by exactly this number'),
      customer_id: text('of this customer, by exactly this customer_id'),
      ...period,
      ...moments,
    },
    (client, query) => client.payments.list(query),
  ),
  listing(
    'refunds_list',
    'Refunds of the shop, newest first.',
    { payment_id: { ...id, description: 'of this payment' }, ...period, ...moments },
    (client, query) => client.refunds.list(query),
  ),
  reading('payouts_get', 'One payout.', (client, one) => client.payouts.get(one)),
  listing(
    'payouts_list',
    'Payouts of the shop, newest first.',
    {
      status: oneOf(enums.PayoutStatus, 'of one status'),
      order_id: text('of this order, by exactly this number'),
      ...period,
      ...moments,
    },
    (client, query) => client.payouts.list(query),
  ),
  listing(
    'ledger_list',
    'Movements of the shop with fees, refunds and adjustments, newest first.',
    period,
    (client, query) => client.ledger.list(query),
  ),
  reading('subscriptions_get', 'One subscription.', (client, one) => client.subscriptions.get(one)),
  reading(
    'subscriptions_schedule',
    'The charges of a subscription that were made, and the next dates.',
    (client, one) => client.subscriptions.schedule(one),
  ),
  listing(
    'subscriptions_list',
    'Subscriptions of the merchant, newest first.',
    {
      customer_ref,
      status: oneOf(enums.SubscriptionStatus, 'of one status'),
    },
    (client, query) => client.subscriptions.list(query),
  ),
  listing(
    'tokens_list',
    'Saved methods of the merchant, newest first.',
    { customer_ref, status: oneOf(enums.TokenStatus, 'of one status') },
    (client, query) => client.tokens.list(query),
  ),
  listing('links_list', 'Payment links of the shop, newest first.', period, (client, query) =>
    client.links.list(query),
  ),
  listing(
    'events_list',
    'Webhook events of the shop, oldest first, as endpoints get them.',
    { subject_id: { ...id, description: 'about this payment or payout' }, ...period },
    (client, query) => client.eventLog.list(query),
  ),
  reading(
    'event_deliveries',
    'One webhook event with its deliveries and what the receivers answered.',
    (client, one) => client.eventLog.get(one),
    text('evt_...'),
  ),
  listing(
    'requests_list',
    'Calls with keys of the shop that were refused, failed or created something, newest first.',
    { status: text('an HTTP status such as 400'), ...period },
    (client, query) => client.requests.list(query),
  ),
  reading(
    'requests_get',
    'One of these calls with its masked bodies.',
    (client, one) => client.requests.get(one),
    text('its X-Request-Id'),
  ),
];

/** Tools that name no currency move rubles. */
const none = async (): Promise<Sum> => ({ amount: 0, currency: 'RUB' });
const given = async (_: PaymentClient, { amount: of }: Arguments): Promise<Sum> => ({
  amount: numberOf(of),
  currency: 'RUB',
});

/** The body of a call: its arguments without those that are not the API's. */
const bodyOf = ({ id: _id, repeat: _repeat, ...body }: Arguments): Arguments => body;

export const writeTools: readonly WriteTool[] = [
  {
    name: 'payments_create',
    says: 'Create a payment. The answer has payment_url, where the buyer pays.',
    takes: {
      amount,
      order_id: text('number of the order'),
      description: text('for what'),
      return_url: { type: 'string', format: 'uri', description: 'where the buyer goes afterwards' },
      on_decline: oneOf(enums.OnDecline, 'stay: the page says why a payment failed'),
      metadata,
      repeat,
    },
    needs: ['amount'],
    amount: given,
    call: (client, args, idempotencyKey) =>
      // The schema of the tool has let through no other fields.
      client.payments.create(bodyOf(args) as Schemas['PaymentCreate'], { idempotencyKey }),
  },
  {
    name: 'payments_cancel',
    says: 'Cancel a pending payment, or release a hold.',
    takes: { id },
    needs: ['id'],
    amount: none,
    call: (client, args) => client.payments.cancel(idOf(args)),
  },
  {
    name: 'payments_capture',
    says: 'Take the money that the bank holds for a payment; all of it without an amount.',
    takes: { id, amount },
    needs: ['id'],
    amount: async (client, args) => {
      const { amount_capturable: all, currency } = await client.payments.get(idOf(args));
      return { amount: numberOf(args['amount']) || all, currency };
    },
    call: (client, args, idempotencyKey) =>
      client.payments.capture(idOf(args), bodyOf(args), { idempotencyKey }),
  },
  {
    name: 'payments_refund',
    says: 'Refund a payment; without an amount, the remainder.',
    takes: { id, amount, reason: text('shown to the buyer'), metadata, repeat },
    needs: ['id'],
    amount: async (client, args) => {
      const payment = await client.payments.get(idOf(args));
      const left = payment.amount_captured - payment.amount_refunded;
      return { amount: numberOf(args['amount']) || left, currency: payment.currency };
    },
    call: (client, args, idempotencyKey) =>
      client.payments.refund(idOf(args), bodyOf(args), { idempotencyKey }),
  },
  {
    name: 'payouts_create',
    says: "Pay out of the merchant's balance to a phone by SBP.",
    takes: {
      amount,
      phone: {
        type: 'string',
        pattern: String.raw`^\+7[0-9]{10}$`,
        description: '+7 and 10 digits',
      },
      bank_id: { type: 'string', pattern: '^[0-9]{12}$', description: 'member_id of the bank' },
      full_name: text("the recipient's name"),
      order_id: { ...text('number of the order'), maxLength: 64 },
      metadata,
      repeat,
    },
    needs: ['amount', 'phone', 'bank_id'],
    amount: given,
    call: (client, args, idempotencyKey) =>
      client.payouts.create(bodyOf(args) as Schemas['PayoutCreateSbp'], { idempotencyKey }),
  },
  {
    name: 'links_create',
    says: 'Make an address where any buyer can pay, once.',
    takes: { amount, description: text('for what'), repeat },
    needs: ['amount'],
    amount: given,
    call: (client, args, idempotencyKey) => client.links.create(bodyOf(args), { idempotencyKey }),
  },
  {
    name: 'links_deactivate',
    says: 'End a payment link for new buyers.',
    takes: { id },
    needs: ['id'],
    amount: none,
    call: (client, args) => client.links.deactivate(idOf(args)),
  },
  {
    name: 'customer_sessions_create',
    says: "Make an address where one customer sees and ends the shop's saved methods and subscriptions.",
    takes: {
      customer_ref: text("the shop's name of the customer"),
      return_url: { type: 'string', format: 'uri', description: 'where the page leads back to' },
      ttl_minutes: { type: 'integer', minimum: 1, maximum: 1_440, description: '30 when left out' },
    },
    needs: ['customer_ref'],
    amount: none,
    call: (client, args) =>
      client.customerSessions.create(bodyOf(args) as Schemas['CustomerSessionCreate']),
  },
  {
    name: 'subscriptions_cancel',
    says: 'Stop the future charges of a subscription.',
    takes: { id, reason: text('why') },
    needs: ['id'],
    amount: none,
    call: (client, args) => client.subscriptions.cancel(idOf(args), bodyOf(args)),
  },
];
