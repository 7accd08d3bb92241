/** Commands on payouts. */
import { enums } from '../generated/enums.ts';
import type { Schemas } from '../schemas.ts';
import { type Command, row } from './command.ts';
import { callOptionsOf, creating, present, readAmount, readPairs } from './command-line.ts';
import {
  byId,
  listing,
  listOf,
  metadata,
  moments,
  money,
  neededAmount,
  lineBegin,
} from './shared-options.ts';

const payoutLine = (one: Schemas['Payout']): readonly string[] => [
  ...lineBegin(one),
  money(one.amount, one.currency).padStart(14),
  one.order_id ?? '-',
  one.fail_reason || '-',
];

export const payouts: readonly Command[] = [
  {
    name: 'payouts create',
    says: 'pay out to a phone by SBP',
    options: {
      amount: neededAmount,
      phone: { says: '+7 and 10 digits', value: 'phone', required: true },
      'bank-id': {
        says: "12 digits, the recipient's bank as psp banks lists it",
        value: 'id',
        required: true,
      },
      name: { says: "the recipient's name", value: 'text' },
      'order-id': { says: 'your number of the order', value: 'text' },
      metadata,
      ...creating,
    },
    run: async ({ given, client, output }) => {
      const body = present({
        amount: readAmount(given.need('amount')),
        phone: given.need('phone'),
        bank_id: given.need('bank-id'),
        full_name: given.text('name'),
        order_id: given.text('order-id'),
        metadata: readPairs(given.all('metadata')),
      });
      const made = await client().payouts.create(body, callOptionsOf(given));
      output.result(made, row(...payoutLine(made.payout)));
    },
  },
  byId('payouts get', 'read a payout', (client, id) => client.payouts.get(id)),
  listOf('payouts list', 'list payouts, newest first', {
    statuses: enums.PayoutStatus,
    options: { 'order-id': { says: 'of this order', value: 'text' }, ...listing, ...moments },
    list: ({ given, client }, query) =>
      client().payouts.list(present({ ...query, order_id: given.text('order-id') })),
    line: payoutLine,
  }),
];
