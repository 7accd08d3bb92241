/** Commands on payment links. */
import type { Schemas } from '../schemas.ts';
import type { Command } from './command.ts';
import { callOptionsOf, creating, present, readAmount, readCount } from './read-values.ts';
import {
  amount,
  byId,
  listing,
  money,
  narrowing,
  printList,
  second,
  statusOption,
} from './shared-options.ts';
import { row } from './output.ts';

const statuses = ['active', 'paid', 'expired', 'deactivated'] as const;

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
      const [fixed, uses] = [given.text('amount'), given.text('uses')];
      const limit = uses === undefined ? undefined : readCount(uses, 1, '--uses');
      const body = present({
        amount: fixed === undefined ? undefined : readAmount(fixed),
        uses: given.has('unlimited') ? null : limit,
        description: given.text('description'),
      });
      const made = await client().links.create(body, callOptionsOf(given));
      output.result(made, row(...lineOf(made.link)));
    },
  },
  byId('links get', 'read a link', (client, id) => client.links.get(id)),
  {
    name: 'links list',
    says: 'list links, newest first',
    options: {
      status: statusOption(statuses),
      ...listing,
    },
    run: (context) =>
      printList(context, context.client().links.list(narrowing(context, statuses)), lineOf),
  },
  byId('links deactivate', 'end a link for new buyers', (client, id) =>
    client.links.deactivate(id),
  ),
];
