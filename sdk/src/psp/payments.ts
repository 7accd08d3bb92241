/** Commands on payments, their refunds and receipts. */
import { enums } from '../generated/enums.ts';
import type { PaymentClient } from '../client.ts';
import type { Schemas } from '../schemas.ts';
import { type Command, type Context, row } from './command.ts';
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
  amount,
  byId,
  idOf,
  lineBegin,
  listing,
  listOf,
  metadata,
  moments,
  money,
  neededAmount,
  paymentOption,
  second,
} from './shared-options.ts';

const methods = ['sbp', 'cards', 'tpay', 'sberpay', 'any'] as const;

/** The id of a payment that is named by its id or its number. */
const paymentIdOf = async (client: PaymentClient, name: string): Promise<string> =>
  /^P-\d+$/.test(name) ? (await client.payments.get(name)).id : name;

const narrowedTo = async ({ given, client }: Context): Promise<string | undefined> => {
  const name = given.text('payment-id');
  return name === undefined ? undefined : paymentIdOf(client(), name);
};

export const paymentLine = (one: Schemas['Payment']): readonly string[] => [
  ...lineBegin(one),
  money(one.amount, one.currency).padStart(14),
  one.order_id,
  ...(one.status === 'failed' ? [one.metadata['failure_code'] ?? '-'] : []),
];

/** A refund does not name its currency: its amount is printed in minor units. */
const refundLine = (one: Schemas['Refund']): readonly string[] => [
  ...lineBegin(one),
  String(one.amount).padStart(14),
  `of ${one.payment_id}`,
  one.fail_reason || '-',
];

const receiptLine = (one: Schemas['Receipt']): readonly string[] => [
  ...lineBegin(one),
  money(one.amount, one.currency).padStart(14),
  one.type.padEnd(7),
  `of ${one.payment_id}`,
  one.failure_reason ?? '-',
];

export const payments: readonly Command[] = [
  {
    name: 'payments create',
    says: 'create a payment and print where its buyer pays',
    options: {
      amount: neededAmount,
      currency: { says: 'RUB when left out', value: 'code' },
      method: { says: 'how the buyer pays; any when left out', value: 'method', choices: methods },
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
        amount: readAmount(given.need('amount')),
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
  byId('payments get', 'read a payment', (client, id) => client.payments.get(id)),
  listOf('payments list', 'list payments, newest first', {
    statuses: enums.PaymentStatus,
    options: {
      'order-id': { says: 'of this order', value: 'text' },
      'customer-id': { says: 'of this customer', value: 'text' },
      ...listing,
      ...moments,
    },
    list: ({ given, client }, query) => {
      const [order_id, customer_id] = [given.text('order-id'), given.text('customer-id')];
      return client().payments.list(present({ ...query, order_id, customer_id }));
    },
    line: paymentLine,
  }),
  byId('payments cancel', 'cancel a pending payment, or release a hold', async (client, id) =>
    client.payments.cancel(await paymentIdOf(client, id)),
  ),
  {
    name: 'payments capture',
    args: '<id>',
    says: 'take the money that the bank holds; all of it without an amount',
    options: { amount, ...creating },
    run: async (context) => {
      const { given, client, output } = context;
      const body = present({ amount: readAnyAmount(given) });
      const id = await paymentIdOf(client(), idOf(context));
      const { payment } = await client().payments.capture(id, body, callOptionsOf(given));
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
      const body = present({
        amount: readAnyAmount(given),
        reason: given.text('reason'),
        metadata: readPairs(given.all('metadata')),
      });
      const id = await paymentIdOf(client(), idOf(context));
      output.result(await client().payments.refund(id, body, callOptionsOf(given)));
    },
  },
  listOf('refunds list', 'list refunds, newest first; amounts in minor units', {
    statuses: enums.RefundStatus,
    options: { 'payment-id': paymentOption, ...listing, ...moments },
    list: async (context, query) => {
      const payment_id = await narrowedTo(context);
      return context.client().refunds.list(present({ ...query, payment_id }));
    },
    line: refundLine,
  }),
  listOf('receipts list', 'list receipts, newest first', {
    statuses: enums.ReceiptStatus,
    options: { 'payment-id': paymentOption, ...listing },
    list: async (context, query) => {
      const payment_id = await narrowedTo(context);
      return context.client().receipts.list(present({ ...query, payment_id }));
    },
    line: receiptLine,
  }),
  byId('receipts get', 'read a receipt', (client, id) => client.receipts.get(id)),
];

const lineOf = (one: Schemas['Link']): readonly string[] => [
  one.id,
  second(one.created_at),
  one.status.padEnd(11),
  (one.amount === null ? 'open' : money(one.amount, one.currency)).padStart(14),
  one.url,
];

export const links: readonly Command[] = [
  {
    name: 'links create',
    says: 'make an address where any buyer can pay; without an amount the buyer types one',
    options: {
      amount,
      uses: { says: 'how often it may be paid; 1 when left out', value: 'count' },
      unlimited: { says: 'any number of payments' },
      description: { says: 'what it is for', value: 'text' },
      ...creating,
    },
    run: async ({ given, client, output }) => {
      const uses = given.text('uses');
      const limit = uses === undefined ? undefined : readCount(uses, 1, '--uses');
      const body = present({
        amount: readAnyAmount(given),
        uses: given.has('unlimited') ? null : limit,
        description: given.text('description'),
      });
      const made = await client().links.create(body, callOptionsOf(given));
      output.result(made, row(...lineOf(made.link)));
    },
  },
  byId('links get', 'read a link', (client, id) => client.links.get(id)),
  listOf('links list', 'list links, newest first', {
    statuses: enums.LinkStatus,
    options: listing,
    list: ({ client }, query) => client().links.list(query),
    line: lineOf,
  }),
  byId('links deactivate', 'end a link for new buyers', (client, id) =>
    client.links.deactivate(id),
  ),
];
