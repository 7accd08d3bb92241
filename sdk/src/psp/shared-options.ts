/** What commands on the objects of the API share. */
import { enums } from '../generated/enums.ts';
import type { PaymentClient } from '../client.ts';
import { formatMoney } from '../money.ts';
import { type Command, type Context, type Option, type Options, row } from './command.ts';
import { Failure } from './failure.ts';
import { present, readChoice, readCount } from './command-line.ts';

export const amount: Option = { says: 'in minor units, as 10000 for 100.00', value: 'minor' };

/** The same where there is nothing to do without one. */
export const neededAmount: Option = { ...amount, required: true };

export const neededCustomer: Option = {
  says: 'your name of the customer',
  value: 'ref',
  required: true,
};

export const metadata: Option = {
  says: 'a pair of your own; may be repeated',
  value: 'name=value',
  many: true,
};

export const limit = { says: 'how many at most; 20 when left out', value: 'count' };

export const listing: Options = {
  limit,
  from: { says: 'first day, UTC', value: 'date' },
  to: { says: 'last day, UTC', value: 'date' },
};

/** Options of lists that take moments, too. */
export const moments: Options = {
  'created-from': { says: 'made at this moment or later', value: 'moment' },
  'created-to': { says: 'made before this moment', value: 'moment' },
};

const statusOption = (choices: readonly string[]): Option => ({
  says: 'of this status; may be repeated',
  value: 'status',
  choices,
  many: true,
});

export const paymentOption: Option = { says: 'of this payment', value: 'id' };

export const idOf = ({ given }: Context): string => given.args[0] ?? '';

/** A command that makes one call with an id, and prints the answer. */
export const byId = (
  name: string,
  says: string,
  call: (client: PaymentClient, id: string) => Promise<object>,
): Command => ({
  name,
  args: '<id>',
  says,
  run: async (context) => context.output.result(await call(context.client(), idOf(context))),
});

interface List<Item> {
  first(count: number): Promise<Item[]>;
}

export const printList = async <Item extends object>(
  { given, output }: Context,
  list: List<Item>,
  line: (item: Item) => readonly string[],
): Promise<void> => {
  const items = await list.first(readCount(given.text('limit'), 20, '--limit'));
  for (const item of items) output.result(item, row(...line(item)));
  if (items.length === 0) output.remark('none');
};

export const narrowing = <Status extends string>(
  { given }: Context,
  statuses: readonly Status[],
) => {
  const status = given
    .all('status')
    .flatMap((text) => readChoice(text, statuses, '--status') ?? []);
  const most = Math.min(200, readCount(given.text('limit'), 20, '--limit'));
  return present({
    limit: most,
    from: given.text('from'),
    to: given.text('to'),
    created_from: given.text('created-from'),
    created_to: given.text('created-to'),
    status: status.length > 0 ? status : undefined,
  });
};

/** A command that lists objects of some statuses. `list` gets what the line narrows it down by. */
export const listOf = <Status extends string, Item extends object>(
  name: string,
  says: string,
  of: {
    readonly statuses: readonly Status[];
    readonly options: Options;
    readonly list: (
      context: Context,
      query: ReturnType<typeof narrowing<Status>>,
    ) => List<Item> | Promise<List<Item>>;
    readonly line: (item: Item) => readonly string[];
  },
): Command => ({
  name,
  says,
  options: { status: statusOption(of.statuses), ...of.options },
  run: async (context) =>
    printList(context, await of.list(context, narrowing(context, of.statuses)), of.line),
});

/** What the line of an object begins with. */
export const lineBegin = (one: {
  readonly id: string;
  readonly created_at: string;
  readonly status: string;
}): readonly string[] => [one.id, second(one.created_at), one.status.padEnd(10)];

/** A moment in a line: to the second, as `--created-from` takes it. */
export const second = (moment: string): string => moment.replace(/\.\d+Z$/, 'Z');

export const money = (value: number, currency: string): string =>
  formatMoney(value, currency, 'en');

const names: readonly string[] = enums.WebhookEventName;

export const eventsOption: Option = {
  says: 'only these, separated by commas; may be repeated',
  value: 'names',
  many: true,
  choices: names,
};

/** The names of that option as the log's filter takes them. Throws for one that does not exist. */
export const readEventNames = (texts: readonly string[]): string | undefined => {
  const given = texts.flatMap((text) => text.split(',')).map((name) => name.trim());
  const unknown = given.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new Failure('usage', `--events: there is no ${unknown || '""'}; see psp listen --help`);
  return given.length === 0 ? undefined : given.join(',');
};
