/** `psp open`: from an id to where a person looks at the object. */
import { spawn } from 'node:child_process';
import { ApiError } from '../errors.ts';
import type { Command, Context } from './command.ts';
import { Failure } from './failure.ts';

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
  /** What is opened there. */
  readonly id: string;
  /** What narrows the list behind it. */
  readonly narrowing?: Readonly<Record<string, string>>;
}

const consoleAddress = ({ url, settings }: Context, place: Place): string => {
  const { screen, merchantId, id, narrowing = {} } = place;
  const mode = settings.apiKey?.startsWith('sk_live_') ? 'live' : 'test';
  const search = new URLSearchParams({ mode, ...narrowing, open: `${merchantId}/${id}` });
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
  const narrowing = {
    merchant: merchantId,
    since: new Date(since_ms).toISOString(),
    until: new Date(since_ms + second_ms).toISOString(),
  };
  return { screen: 'refunds', merchantId, id: paymentId, narrowing };
};

/** A saved method among those of its customer. */
const placeOfToken = async ({ client }: Context, id: string): Promise<Place | null> => {
  const token = await firstOf(client().tokens.list(), (one) => one.id === id);
  if (!token) return null;
  const { merchant_id: merchantId, customer_ref: customer } = token;
  const narrowing = { tab: 'tokens', merchant: merchantId, customer };
  return { screen: 'subscriptions', merchantId, id, narrowing };
};

/** Where an object of the API is; null where there is none. */
const placeOf = async (context: Context, id: string): Promise<Place | null> => {
  const api = context.client();
  const payment = await found(api.payments.get(id));
  if (payment) return { screen: 'payments', merchantId: payment.merchant_id, id };
  const payout = await found(api.payouts.get(id));
  if (payout) return { screen: 'payouts', merchantId: payout.merchant_id, id };
  const subscription = await found(api.subscriptions.get(id));
  if (subscription) return { screen: 'subscriptions', merchantId: subscription.merchant_id, id };
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

/** The row of `psp open`. */
export const open: Command = {
  name: 'open',
  args: '<id>',
  says: 'open an object in a browser: a link on its page, another one in the console',
  options: { print: { says: 'print the address and open nothing' } },
  run: async (context) => {
    const { given, output, url, stopped } = context;
    const address = await addressOf(context, given.args[0] ?? '');
    if (address.startsWith(`${url}/console/`)) {
      const { status } = await fetch(`${url}/console/`, { redirect: 'manual', signal: stopped });
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
