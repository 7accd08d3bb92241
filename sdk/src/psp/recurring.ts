/** Commands on subscriptions, and on saved methods (tokens). */
import { enums } from '../generated/enums.ts';
import type { Schemas } from '../schemas.ts';
import { type Command, row } from './command.ts';
import { paymentLine } from './payments.ts';
import {
  callOptionsOf,
  creating,
  present,
  readAmount,
  readAnyAmount,
  readChoice,
  readPairs,
  readCount,
} from './command-line.ts';
import {
  byId,
  idOf,
  limit,
  lineBegin,
  listOf,
  metadata,
  money,
  neededAmount,
  neededCustomer,
  second,
  amount,
} from './shared-options.ts';

const subscriptionLine = (one: Schemas['Subscription']): readonly string[] => [
  ...lineBegin(one),
  money(one.amount, one.currency).padStart(14),
  one.customer_ref,
  `next ${one.next_charge_at === null ? '-' : second(one.next_charge_at)}`,
];

export const subscriptions: readonly Command[] = [
  {
    name: 'subscriptions create',
    says: 'begin a subscription and print where the buyer binds a method',
    options: {
      amount: neededAmount,
      customer: neededCustomer,
      period: { says: 'month when left out', value: 'period', choices: enums.SubscriptionPeriod },
      'trial-days': { says: 'days before the first charge', value: 'days' },
      plan: { says: 'its name', value: 'text' },
      'return-url': { says: 'where the buyer goes afterwards', value: 'url' },
      metadata,
      ...creating,
    },
    run: async ({ given, client, output }) => {
      const trial = given.text('trial-days');
      const body = present({
        amount: readAmount(given.need('amount')),
        customer_ref: given.need('customer'),
        period: readChoice(given.text('period'), enums.SubscriptionPeriod, '--period'),
        trial_days: trial === undefined ? undefined : readAmount(trial, '--trial-days'),
        plan_name: given.text('plan'),
        return_url: given.text('return-url'),
        metadata: readPairs(given.all('metadata')),
      });
      const made = await client().subscriptions.create(body, callOptionsOf(given));
      const { subscription, pay_url } = made;
      output.result(made, `${row(...subscriptionLine(subscription))}\nbind at ${pay_url}`);
    },
  },
  byId('subscriptions get', 'read a subscription', (client, id) => client.subscriptions.get(id)),
  listOf('subscriptions list', 'list subscriptions, newest first', {
    statuses: enums.SubscriptionStatus,
    options: { customer: { says: 'of this customer', value: 'ref' }, limit },
    list: ({ given, client }, query) =>
      client().subscriptions.list(present({ ...query, customer_ref: given.text('customer') })),
    line: subscriptionLine,
  }),
  {
    name: 'subscriptions cancel',
    args: '<id>',
    says: 'stop future charges',
    options: { reason: { says: 'why', value: 'text' } },
    run: async (context) => {
      const reason = context.given.text('reason');
      const body = reason === undefined ? {} : { reason };
      context.output.result(await context.client().subscriptions.cancel(idOf(context), body));
    },
  },
];

const tokenLine = (one: Schemas['Token']): readonly string[] => [
  ...lineBegin(one),
  one.method.padEnd(5),
  one.customer_ref,
  one.card_mask ?? '-',
];

export const tokens: readonly Command[] = [
  {
    name: 'tokens create',
    says: 'save a payment method and print where the buyer binds it',
    options: {
      customer: neededCustomer,
      method: { says: 'cards when left out', value: 'method', choices: enums.RecurringMethod },
      amount: { ...amount, says: 'the first charge, in minor units; sbp and tpay need one' },
      'return-url': { says: 'where the buyer goes afterwards', value: 'url' },
      metadata,
      ...creating,
    },
    run: async ({ given, client, output }) => {
      const body = present({
        customer_ref: given.need('customer'),
        method: readChoice(given.text('method'), enums.RecurringMethod, '--method'),
        amount: readAnyAmount(given),
        return_url: given.text('return-url'),
        metadata: readPairs(given.all('metadata')),
      });
      const made = await client().tokens.create(body, callOptionsOf(given));
      output.result(made, `${row(...tokenLine(made.card))}\nbind at ${made.pay_url}`);
    },
  },
  listOf('tokens list', 'list saved methods, newest first', {
    statuses: enums.TokenStatus,
    options: { customer: { says: 'of this customer', value: 'ref' }, limit },
    list: ({ given, client }, query) =>
      client().tokens.list(present({ ...query, customer_ref: given.text('customer') })),
    line: tokenLine,
  }),
  {
    name: 'tokens charge',
    args: '<id>',
    says: 'charge a saved method without the buyer; the bank may decline: see the status',
    options: {
      amount: neededAmount,
      'order-id': { says: 'your number of the order', value: 'text' },
      description: { says: 'what it is for', value: 'text' },
      metadata,
      ...creating,
    },
    run: async (context) => {
      const { given, client, output } = context;
      const body = present({
        amount: readAmount(given.need('amount')),
        order_id: given.text('order-id'),
        description: given.text('description'),
        metadata: readPairs(given.all('metadata')),
      });
      const payment = await client().tokens.charge(idOf(context), body, callOptionsOf(given));
      output.result(payment, row(...paymentLine(payment)));
    },
  },
  byId('tokens cancel', 'remove a saved method', (client, id) => client.tokens.cancel(id)),
  {
    name: 'customers page',
    args: '<ref>',
    says: 'make an address where a customer sees and ends saved methods and subscriptions',
    options: {
      'return-url': { says: 'where the page leads back to', value: 'url' },
      minutes: { says: 'how long it works; 30 when left out', value: 'count' },
    },
    run: async ({ given, client, output }) => {
      const minutes = given.text('minutes');
      const body = present({
        customer_ref: given.args[0] ?? '',
        return_url: given.text('return-url'),
        ttl_minutes: minutes === undefined ? undefined : readCount(minutes, 30, '--minutes'),
      });
      const session = await client().customerSessions.create(body);
      output.result(session, `${session.url}\nworks until ${session.expires_at}`);
    },
  },
];
