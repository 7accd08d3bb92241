/** `psp logs`: what calls with the shop's keys came to. */
import type { Schemas } from '../schemas.ts';
import type { Command } from './command.ts';
import { present, readCount } from './read-values.ts';
import { listing, printList, second } from './shared-options.ts';

const lineOf = (one: Schemas['Request']): readonly string[] => [
  second(one.at),
  String(one.status),
  one.method.padEnd(4),
  one.path,
  one.code ?? '-',
  one.id,
];

export const logs: Command = {
  name: 'logs',
  args: '[id]',
  says: 'list calls that were refused, failed or created something; or read one with its bodies',
  options: {
    status: { says: 'of this HTTP status; may be repeated', value: 'status', many: true },
    ...listing,
  },
  notes: ['Of the last 7 days, newest first. The id is the X-Request-Id of the answer.'],
  run: async (context) => {
    const { given, client, output } = context;
    const [id] = given.args;
    if (id !== undefined) {
      output.result(await client().requests.get(id));
      return;
    }
    const status = given.all('status').flatMap((text) => text.split(','));
    const query = present({
      limit: Math.min(200, readCount(given.text('limit'), 20, '--limit')),
      from: given.text('from'),
      to: given.text('to'),
      status: status.length > 0 ? status : undefined,
    });
    await printList(context, client().requests.list(query), lineOf);
  },
};
