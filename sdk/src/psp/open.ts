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
type Screen = 'payments' | 'subscriptions' | 'payouts';

interface Place {
  readonly screen: Screen;
  readonly merchantId: string;
  /** What is opened there; null where the screen is a list alone. */
  readonly id: string | null;
}

const consoleAddress = ({ url, settings }: Context, { screen, merchantId, id }: Place): string => {
  const mode = settings.apiKey?.startsWith('sk_live_') ? 'live' : 'test';
  const shown = id === null ? `merchant=${merchantId}` : `open=${merchantId}/${id}`;
  return `${url}/console/${screen}?mode=${mode}&${shown}`;
};

/** Where a payment, a receipt, a payout or a subscription is; null where there is none. */
const placeOf = async ({ client }: Context, id: string): Promise<Place | null> => {
  const api = client();
  const payment = await found(api.payments.get(id));
  if (payment) return { screen: 'payments', merchantId: payment.merchant_id, id };
  const payout = await found(api.payouts.get(id));
  if (payout) return { screen: 'payouts', merchantId: payout.merchant_id, id: null };
  const subscription = await found(api.subscriptions.get(id));
  if (subscription) return { screen: 'subscriptions', merchantId: subscription.merchant_id, id };
  const receipt = await found(api.receipts.get(id));
  const paid = receipt && (await found(api.payments.get(receipt.payment_id)));
  return paid && { screen: 'payments', merchantId: paid.merchant_id, id: paid.id };
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
    `there is no payment, receipt, payout, subscription, link or event ${id}`,
  );
};

const browsers: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** The row of `psp open`. */
export const open: Command = {
  name: 'open',
  args: '<id>',
  says: 'open an object in a browser: a link on its page, another one in the console',
  options: { print: { says: 'print the address and open nothing' } },
  run: async (context) => {
    const { given, output, url } = context;
    const address = await addressOf(context, given.args[0] ?? '');
    if (address.startsWith(`${url}/console/`)) {
      const { status } = await fetch(`${url}/console/`, { redirect: 'manual' });
      if (status === 404)
        throw new Failure('refused', 'this installation has no console; see psp payments get');
    }
    output.result({ url: address }, address);
    if (given.has('print') || output.json) return;
    const [program = '', ...args] = browsers[process.platform] ?? ['xdg-open'];
    const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true });
    child.once('error', () => output.remark('no browser could be started: open the address'));
    child.unref();
  },
};
