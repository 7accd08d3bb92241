/** Account commands: balance, ledger, events, and opening pages in a browser. */
import { enums } from '../generated/enums.ts';
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { ApiError } from '../errors.ts';
import { present, readChoice } from './command-line.ts';
import { type Command, type Context, row, shown } from './command.ts';
import { Failure, fetchOnce } from './failure.ts';
import { followLog, readNewestId, printEvent } from './follow-log.ts';
import {
  eventsOption,
  readEventNames,
  listing,
  money,
  narrowing,
  printList,
  second,
} from './shared-options.ts';

const balance: Command = {
  name: 'balance',
  says: 'the balance, and how much of it can be paid out',
  options: { currency: { says: 'RUB when left out', value: 'code' } },
  run: async ({ given, client, output }) => {
    const currency = given.text('currency');
    const of = await client().balance.get(currency === undefined ? {} : { currency });
    const sum = (value: number): string => money(value, of.currency);
    const shops = of.shops.map((shop) => row(sum(shop.balance).padStart(18), shop.shop_name));
    const total = `${sum(of.balance).padStart(18)}  all shops, ${sum(of.available)} available`;
    output.result(of, [...shops, total].join('\n'));
  },
};

const width = 30;

/**
 * How much of a ledger, newest row first, is there: the part of the days that its last whole row
 * has come to. A row's last field is when it was made.
 */
const partOf = (text: string, from_ms: number, to_ms: number): number | null => {
  const end = text.lastIndexOf('\n');
  const last = text.slice(text.lastIndexOf('\n', end - 1) + 1, end);
  const at_ms = Date.parse(last.slice(last.lastIndexOf(',') + 1).trim());
  if (Number.isNaN(at_ms) || to_ms <= from_ms) return null;
  return Math.min(1, Math.max(0, (to_ms - at_ms) / (to_ms - from_ms)));
};

const barOf = (part: number): string =>
  `[${'='.repeat(Math.round(part * width)).padEnd(width)}] ${Math.round(part * 100)} %`;

const exportLedger = async ({ given, client, output, stdout, stopped }: Context): Promise<void> => {
  const [from, to] = [given.text('from'), given.text('to')];
  const query = { ...(from ? { from } : {}), ...(to ? { to } : {}) };
  const csv = await client().ledger.csv(query);
  const from_ms = from ? Date.parse(from) : Number.NaN;
  const to_ms = Math.min(Date.now(), to ? Date.parse(to) + 86_400_000 : Date.now());
  const decoder = new TextDecoder();
  let rows = -1;
  let tail = '';
  for await (const part of csv) {
    const text = decoder.decode(part, { stream: true });
    const written = stdout.isTTY ? shown(text.replaceAll('\r\n', '\n')) : part;
    if (!stdout.write(written)) await once(stdout, 'drain', { signal: stopped });
    rows += text.split('\n').length - 1;
    tail = (tail + text).slice(-4_096);
    const done = partOf(tail, from_ms, to_ms);
    output.progress(`${done === null ? '' : `${barOf(done)}  `}${rows} rows`);
  }
  output.progress('');
  output.remark(`${Math.max(0, rows)} rows`);
};

const ledger: Command = {
  name: 'ledger list',
  says: 'list the movements of the balance, newest first',
  options: {
    type: { says: 'of this type', value: 'type', choices: enums.LedgerEntryType },
    ...listing,
  },
  run: (context) => {
    const { given, client } = context;
    const type = readChoice(given.text('type'), enums.LedgerEntryType, '--type');
    const query = present({ ...narrowing(context, []), type });
    return printList(context, client().ledger.list(query), (one) => [
      one.id,
      second(one.created_at),
      one.type.padEnd(10),
      money(one.amount, one.currency).padStart(14),
      one.payment_id ?? one.payout_id ?? '-',
      one.description,
    ]);
  },
};

const ledgerFile: Command = {
  name: 'ledger export',
  says: 'write the ledger as CSV to stdout; the progress goes to the terminal',
  options: {
    from: { says: 'first day, UTC; with it the progress has a bar', value: 'date' },
    to: { says: 'last day, UTC', value: 'date' },
  },
  run: exportLedger,
};

const tail: Command = {
  name: 'events tail',
  says: 'print webhook events as they happen',
  options: { events: eventsOption },
  run: async ({ given, send, output, stopped }) => {
    const events = readEventNames(given.all('events'));
    const way = send();
    const after = await readNewestId(way);
    const following = { send: way, after, since: null, events, stopped, remark: output.remark };
    try {
      for await (const event of followLog(following)) printEvent(output, event);
    } catch (error) {
      if (!stopped.aborted) throw error;
    }
  },
};

// `psp open`: from an id to where a person looks at the object.

/** Null where the API has no such object. */
const found = <Answer>(reading: Promise<Answer>): Promise<Answer | null> =>
  reading.catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'not_found') return null;
    throw error;
  });

/** Screens of the console that open one object, and those that show a merchant's. */
type Screen = 'payments' | 'subscriptions' | 'payouts' | 'refunds';

interface Place {
  readonly screen: Screen;
  readonly merchantId: string;
  readonly id: string;
  readonly filters?: Readonly<Record<string, string>>;
}

const consoleAddress = ({ url, settings }: Context, place: Place): string => {
  const { screen, merchantId, id, filters = {} } = place;
  const mode = settings.apiKey?.startsWith('sk_live_') ? 'live' : 'test';
  const search = new URLSearchParams({ mode, ...filters, open: `${merchantId}/${id}` });
  return `${url}/console/${screen}?${search.toString().replaceAll('%2F', '/')}`;
};

/** Lists without a read of one object are looked through as far as this, the newest first. */
const looked_max = 2_000;
const page_max = 200;

/** The first of a list that fits; null when none does, or the key may not read the list. */
const firstOf = async <Item>(
  items: AsyncIterable<Item>,
  fits: (item: Item) => boolean,
): Promise<Item | null> => {
  let looked = 0;
  try {
    for await (const item of items) {
      if (fits(item)) return item;
      looked += 1;
      if (looked === looked_max) return null;
    }
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'scope_required')) throw error;
  }
  return null;
};

const second_ms = 1_000;

/** A refund in the list of the second in which it was made, with its payment open over it. */
const placeOfRefund = async ({ client }: Context, id: string): Promise<Place | null> => {
  const refund = await firstOf(client().refunds.list({ limit: page_max }), (one) => one.id === id);
  if (!refund) return null;
  const { merchant_id: merchantId, payment_id: paymentId, created_at: at } = refund;
  const since_ms = Math.floor(Date.parse(at) / second_ms) * second_ms;
  const filters = {
    merchant: merchantId,
    since: new Date(since_ms).toISOString(),
    until: new Date(since_ms + second_ms).toISOString(),
  };
  return { screen: 'refunds', merchantId, id: paymentId, filters };
};

const placeOfToken = async ({ client }: Context, id: string): Promise<Place | null> => {
  const token = await firstOf(client().tokens.list(), (one) => one.id === id);
  if (!token) return null;
  const { merchant_id: merchantId, customer_ref: customer } = token;
  const filters = { tab: 'tokens', merchant: merchantId, customer };
  return { screen: 'subscriptions', merchantId, id, filters };
};

/** Where an object of the API is; null where there is none. */
const placeOf = async (context: Context, id: string): Promise<Place | null> => {
  const api = context.client();
  for (const screen of ['payments', 'payouts', 'subscriptions'] as const) {
    const object = await found<{ readonly merchant_id: string }>(api[screen].get(id));
    if (object) return { screen, merchantId: object.merchant_id, id };
  }
  const receipt = await found(api.receipts.get(id));
  const paid = receipt && (await found(api.payments.get(receipt.payment_id)));
  if (paid) return { screen: 'payments', merchantId: paid.merchant_id, id: paid.id };
  return (await placeOfRefund(context, id)) ?? placeOfToken(context, id);
};

/** An event's object, or the id itself. */
const subjectOf = async ({ client }: Context, id: string): Promise<string> => {
  const event = id.startsWith('evt_') ? await found(client().eventLog.get(id)) : null;
  return event?.data.id ?? id;
};

/** Where a person looks at an object: a link's own page, anything else in the console. */
const addressOf = async (context: Context, id: string): Promise<string> => {
  const subject = await subjectOf(context, id);
  const link = await found(context.client().links.get(subject));
  if (link) return link.url;
  const place = await placeOf(context, subject);
  if (place) return consoleAddress(context, place);
  throw new Failure(
    'refused',
    `there is no payment, refund, receipt, payout, subscription, saved method, link or event ${id}`,
  );
};

const browsers: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  // No shell, which would read the `&` of an address.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** What opens an address on a platform: a program, and its arguments. */
export const browserOf = (platform: string): readonly string[] =>
  browsers[platform] ?? ['xdg-open'];

const open: Command = {
  name: 'open',
  args: '<id>',
  says: 'open an object in a browser: a link on its page, another one in the console',
  options: { print: { says: 'print the address and open nothing' } },
  run: async (context) => {
    const { given, output, url, stopped } = context;
    const address = await addressOf(context, given.args[0] ?? '');
    if (address.startsWith(`${url}/console/`)) {
      const { status } = await fetchOnce(`${url}/console/`, {
        redirect: 'manual',
        signal: stopped,
      });
      if (status === 404)
        throw new Failure('refused', 'this installation has no console; see psp payments get');
    }
    output.result({ url: address }, address);
    if (given.has('print') || output.json) return;
    const [program = '', ...args] = browserOf(process.platform);
    const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true });
    child.once('error', () => output.remark('no browser could be started: open the address'));
    child.unref();
  },
};

export const account: readonly Command[] = [balance, ledger, ledgerFile, open, tail];
