/** Account commands: balance, ledger, events, and opening pages in a browser. */
import { once } from 'node:events';
import type { Command, Context } from './command.ts';
import { eventsOption, readEventNames } from './event-names.ts';
import { followLog, readNewestId, printEvent } from './follow-log.ts';
import { open } from './open.ts';
import { row, shown } from './output.ts';
import { present, readChoice } from './read-arguments.ts';
import { listing, money, narrowing, printList, second } from './shared-options.ts';

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

const movementTypes = [
  ...(['payment', 'fee', 'refund', 'payout', 'payout_fee'] as const),
  ...(['settlement', 'adjustment'] as const),
];

const ledger: Command = {
  name: 'ledger list',
  says: 'list the movements of the balance, newest first',
  options: {
    type: { says: 'of this type', value: 'type', choices: movementTypes },
    ...listing,
  },
  run: (context) => {
    const { given, client } = context;
    const type = readChoice(given.text('type'), movementTypes, '--type');
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

/** The rows of these commands. */
export const account: readonly Command[] = [balance, ledger, ledgerFile, open, tail];
