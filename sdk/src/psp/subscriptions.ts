/** Commands on subscriptions. */
import type { Schemas } from '../schemas.ts';
import type { Command } from './command.ts';
import {
  callOptionsOf,
  creating,
  present,
  readAmount,
  readChoice,
  readPairs,
} from './read-values.ts';
import {
  byId,
  idOf,
  limit,
  metadata,
  money,
  narrowing,
  neededAmount,
  neededCustomer,
  printList,
  second,
  statusOption,
} from './shared-options.ts';
import { row } from './output.ts';

const subscriptionStatuses = ['pending', 'active', 'past_due', 'paused', 'cancelled'] as const;
const periods = ['day', 'week', 'month', 'year'] as const;

const subscriptionLine = (one: Schemas['Subscription']): readonly string[] => [
  one.id,
  second(one.created_at),
  one.status.padEnd(10),
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
      period: { says: 'month when left out', value: 'period', choices: periods },
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
        period: readChoice(given.text('period'), periods, '--period'),
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
  {
    name: 'subscriptions list',
    says: 'list subscriptions, newest first',
    options: {
      status: statusOption(subscriptionStatuses),
      customer: { says: 'of this customer', value: 'ref' },
      limit,
    },
    run: (context) => {
      const { given, client } = context;
      const query = present({
        ...narrowing(context, subscriptionStatuses),
        customer_ref: given.text('customer'),
      });
      return printList(context, client().subscriptions.list(query), subscriptionLine);
    },
  },
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
