/** Commands on payments. */
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
  amount,
  idOf,
  listing,
  metadata,
  moments,
  money,
  narrowing,
  printList,
  statusOption,
} from './shared-options.ts';
import { row } from './output.ts';

const methods = ['sbp', 'cards', 'tpay', 'sberpay', 'any'] as const;
const paymentStatuses = [
  ...(['pending', 'processing', 'authorized', 'succeeded'] as const),
  ...(['failed', 'expired', 'cancelled', 'refunded'] as const),
];

const paymentLine = (one: Schemas['Payment']): readonly string[] => [
  one.id,
  one.status.padEnd(10),
  money(one.amount, one.currency).padStart(14),
  one.order_id,
];

export const payments: readonly Command[] = [
  {
    name: 'payments create',
    says: 'create a payment and print where its buyer pays',
    options: {
      amount,
      currency: { says: 'RUB when left out', value: 'code' },
      method: { says: 'how the buyer pays', value: 'method', choices: methods },
      'order-id': { says: 'your number of the order', value: 'text' },
      description: { says: 'what it is for', value: 'text' },
      'return-url': { says: 'where the buyer goes afterwards', value: 'url' },
      stay: { says: 'the page stays after a decline and says why' },
      manual: { says: 'hold the money, to be captured later' },
      metadata,
      ...creating,
    },
    run: async ({ given, client, output }) => {
      const body = present({
        amount: readAmount(given.text('amount')),
        currency: given.text('currency'),
        method: readChoice(given.text('method'), methods, '--method'),
        order_id: given.text('order-id'),
        description: given.text('description'),
        return_url: given.text('return-url'),
        on_decline: given.has('stay') ? ('stay' as const) : undefined,
        capture: given.has('manual') ? ('manual' as const) : undefined,
        metadata: readPairs(given.all('metadata')),
      });
      const made = await client().payments.create(body, callOptionsOf(given));
      const { payment, payment_url } = made;
      output.result(made, `${row(...paymentLine(payment))}\npay at ${payment_url}`);
    },
  },
  {
    name: 'payments get',
    args: '<id>',
    says: 'read a payment, by its id or its number, as P-100063',
    run: async (context) =>
      context.output.result(await context.client().payments.get(idOf(context))),
  },
  {
    name: 'payments list',
    says: 'list payments, newest first',
    options: {
      status: statusOption(paymentStatuses),
      'order-id': { says: 'of this order', value: 'text' },
      'customer-id': { says: 'of this customer', value: 'text' },
      ...listing,
      ...moments,
    },
    run: (context) => {
      const { given, client } = context;
      const query = present({
        ...narrowing(context, paymentStatuses),
        order_id: given.text('order-id'),
        customer_id: given.text('customer-id'),
      });
      return printList(context, client().payments.list(query), paymentLine);
    },
  },
  {
    name: 'payments cancel',
    args: '<id>',
    says: 'cancel a pending payment, or release a hold',
    run: async (context) =>
      context.output.result(await context.client().payments.cancel(idOf(context))),
  },
  {
    name: 'payments capture',
    args: '<id>',
    says: 'take the money that the bank holds; all of it without an amount',
    options: { amount, ...creating },
    run: async (context) => {
      const { given, client, output } = context;
      const part = given.text('amount');
      const body = part === undefined ? {} : { amount: readAmount(part) };
      const { payment } = await client().payments.capture(
        idOf(context),
        body,
        callOptionsOf(given),
      );
      output.result(payment, row(...paymentLine(payment)));
    },
  },
  {
    name: 'payments refund',
    args: '<id>',
    says: 'refund a payment; without an amount, the remainder',
    options: {
      amount,
      reason: { says: 'shown to the buyer', value: 'text' },
      metadata,
      ...creating,
    },
    run: async (context) => {
      const { given, client, output } = context;
      const part = given.text('amount');
      const body = present({
        amount: part === undefined ? undefined : readAmount(part),
        reason: given.text('reason'),
        metadata: readPairs(given.all('metadata')),
      });
      output.result(await client().payments.refund(idOf(context), body, callOptionsOf(given)));
    },
  },
];
