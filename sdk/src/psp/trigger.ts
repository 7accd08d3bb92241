/**
 * `psp trigger`: makes an event happen in test mode, through the API, the hosted page, the
 * simulated bank and the test clock. No event is made up: it is in the event log, and
 * endpoints get it. `psp pay` goes through the page of a payment as its buyer.
 */
import type { PaymentClient } from '../client.ts';
import type { Schemas, WebhookEventName } from '../schemas.ts';
import { wait } from '../transport.ts';
import type { Command, Context, Given } from './command.ts';
import { Failure, fetchOnce } from './failure.ts';
import { operatorGraphOf, frozenSays, liveUntil } from './operator-graph.ts';
import { readAmount } from './command-line.ts';

/** Makes it happen; gives the id of the object that the event is about. */
type Trigger = (context: Context, client: PaymentClient, amount: number) => Promise<string>;

/** Two triggers of one moment must not find each other's method. */
const customerOfItsOwn = (): string => `psp-trigger-${crypto.randomUUID()}`;

const phone = '+79161234567';
/** The simulated bank's number of a person without SBP. */
const phoneOfNobody = '+79000000001';

/** Longer than the slowest of them takes at a busy service; Ctrl-C ends it sooner. */
const patience_ms = 300_000;

/** Looks until it finds something; says when a frozen clock is in the way, gives up after a while. */
const until = async <Found>(
  { stopped, testClock, output }: Context,
  what: string,
  look: () => Promise<Found | null | undefined>,
): Promise<Found> => {
  const end_ms = Date.now() + patience_ms;
  let isTold = false;
  for (let pause_ms = 100; Date.now() < end_ms; pause_ms = Math.min(pause_ms * 1.5, 2_000)) {
    const found = await look();
    if (found !== null && found !== undefined) return found;
    const clock = testClock();
    if (clock?.isFrozen && !isTold) output.remark(frozenSays(clock));
    isTold ||= clock?.isFrozen === true;
    await wait(pause_ms, stopped);
  }
  throw new Failure('connection', `${what} did not come within ${patience_ms / 1_000} s`);
};

// A buyer's actions on the hosted page and at the simulated bank, as requests.

/** Ends a request with the command. */
type Signal = AbortSignal | null;

const post = async (url: string, init: RequestInit): Promise<Response> => {
  const headers = new Headers(init.headers);
  headers.set('origin', new URL(url).origin);
  headers.set('accept-language', 'en');
  const response = await fetchOnce(url, { ...init, method: 'POST', headers, redirect: 'manual' });
  if (response.status < 400) return response;
  const text = await response.text();
  throw new Failure('refused', `the hosted page answered ${response.status}${messageIn(text)}`);
};

/** The message of an error as JSON; none of a page for people. */
const messageIn = (text: string): string => {
  try {
    return `: ${(JSON.parse(text) as { error: { message: string } }).error.message}`;
  } catch {
    return '';
  }
};

const postJson = (url: string, body: object, signal: Signal): Promise<Response> => {
  const headers = { 'content-type': 'application/json' };
  return post(url, { headers, body: JSON.stringify(body), signal });
};

/** A card that the simulated bank accepts. */
const testCard = {
  number: '4111111111111111',
  expiry: '12/39',
  cvc: '123',
  holder: 'TEST BUYER',
};

/** Pays on the page of a payment whose method is fixed. */
export const pay = async (
  paymentUrl: string,
  method: 'sbp' | 'cards',
  signal: Signal = null,
): Promise<void> =>
  void (await postJson(`${paymentUrl}/pay`, method === 'cards' ? { card: testCard } : {}, signal));

/** Chooses SBP on the page of a payment without a fixed method, and pays. */
export const chooseAndPay = async (paymentUrl: string, signal: Signal = null): Promise<void> => {
  await postJson(`${paymentUrl}/method`, { method: 'sbp' }, signal);
  await pay(paymentUrl, 'sbp', signal);
};

/** Starts a payment on the page of a link; returns that payment's page. */
export const useLink = async (linkUrl: string, signal: Signal = null): Promise<string> => {
  const { headers } = await post(linkUrl, { body: new URLSearchParams(), signal });
  const location = headers.get('location');
  if (location === null) throw new Failure('refused', `${linkUrl} led to no payment`);
  return new URL(location, linkUrl).href;
};

interface PageState {
  readonly paymentId: string;
  readonly mode: 'test' | 'live';
  readonly status: string;
  readonly method: string;
  readonly methods: readonly string[];
  /** What the bank needs from the buyer; null while it has no order. */
  readonly step: string | null;
  readonly failureCode: string | null;
  /** What the simulated bank will do; null for a live payment. */
  readonly plannedOutcome: string | null;
}

const readPage = async (paymentUrl: string, signal: Signal): Promise<PageState> => {
  const response = await fetchOnce(`${paymentUrl}/state`, { signal });
  // The page's own script reads the same; another site may answer anything.
  const state = response.ok
    ? ((await response.json().catch(() => null)) as PageState | null)
    : null;
  if (state) return state;
  throw new Failure('refused', `there is no test payment at ${paymentUrl} (${response.status})`);
};

const paid = async (
  context: Context,
  client: PaymentClient,
  body: Schemas['PaymentCreate'],
): Promise<string> => {
  const { payment, payment_url } = await client.payments.create(body);
  await pay(payment_url, body.method === 'cards' ? 'cards' : 'sbp', context.stopped);
  await until(context, 'the answer of the simulated bank', async () => {
    const { status } = await client.payments.get(payment.id);
    return status === 'pending' || status === 'processing' ? null : status;
  });
  return payment.id;
};

const planned = (outcome: 'succeeded' | 'failed') => ({ simulator_outcome: outcome });

const succeeded: Trigger = (context, client, amount) =>
  paid(context, client, { amount, method: 'sbp', metadata: planned('succeeded') });

/** Takes care that a payout can be made: pays in what is missing. */
const fund = async (context: Context, client: PaymentClient, amount: number): Promise<void> => {
  const needed = amount * 2 + 10_000;
  const { available } = await client.balance.get();
  if (available < needed) await succeeded(context, client, needed * 2);
};

const payOut =
  (to: string): Trigger =>
  async (context, client, amount) => {
    await fund(context, client, amount);
    const body = { amount, phone: to, bank_id: '100000000111' };
    return (await client.payouts.create(body)).payout.id;
  };

/** Pays a payment with a receipt; gives the receipt once the cash register has answered. */
const receiptOf = async (
  context: Context,
  client: PaymentClient,
  amount: number,
  outcome: { readonly simulator_receipt?: 'failed' } = {},
): Promise<string> => {
  const id = await paid(context, client, {
    amount,
    method: 'sbp',
    metadata: { ...planned('succeeded'), ...outcome },
    receipt: {
      customer: { email: 'buyer@example.com' },
      items: [{ description: 'psp trigger', quantity: '1', price: amount, vat_code: 1 }],
    },
  });
  const receipt = await until(context, 'the receipt', async () => {
    const [found] = await client.receipts.list({ payment_id: id }).first(1);
    return found?.status === 'pending' ? null : found;
  });
  return receipt.id;
};

/** Makes a subscription whose method is bound. */
const subscribe = async (
  context: Context,
  client: PaymentClient,
  terms: Pick<Schemas['SubscriptionCreate'], 'amount' | 'trial_days'>,
): Promise<Schemas['Subscription']> => {
  const { subscription, pay_url } = await client.subscriptions.create({
    ...terms,
    customer_ref: customerOfItsOwn(),
    method: 'sbp',
  });
  await pay(pay_url, 'sbp', context.stopped);
  return until(context, 'the bound method', async () => {
    const found = await client.subscriptions.get(subscription.id);
    return found.status === 'active' ? found : null;
  });
};

const pastDue: Trigger = async (context, client, amount) => {
  const { stopped } = context;
  const graph = operatorGraphOf(context, 'setting a test clock');
  // The last two digits decide: 02 is insufficient_funds. The trial binds the method without them.
  const declined = Math.ceil(amount / 100) * 100 + 2;
  const bound = await subscribe(context, client, { amount: declined, trial_days: 1 });
  const { id, merchant_id: merchantId, shop_id: shopId, next_charge_at } = bound;
  const moment = new Date(Date.parse(String(next_charge_at)) + 120_000);
  await liveUntil({ ...graph, merchantId, shopId, stopped }, moment);
  await until(context, 'the declined charge', async () => {
    const { status } = await client.subscriptions.get(id);
    return status === 'past_due' ? status : null;
  });
  return id;
};

const subscribed: Trigger = async (context, client, amount) =>
  (await subscribe(context, client, { amount })).id;

const bound: Trigger = async (context, client, amount) => {
  const customer_ref = customerOfItsOwn();
  const { card, pay_url } = await client.tokens.create({ customer_ref, method: 'sbp', amount });
  await pay(pay_url, 'sbp', context.stopped);
  return until(context, 'the bound method', async () => {
    const tokens = await client.tokens.list({ customer_ref }).first(1);
    return tokens.find(({ id, status }) => id === card.id && status === 'active')?.id;
  });
};

/** What can be made to happen: webhook events, and a refund that is through. */
const triggers = {
  'payment.succeeded': succeeded,
  'payment.failed': (context, client, amount) =>
    paid(context, client, { amount, method: 'sbp', metadata: planned('failed') }),
  'payment.authorized': (context, client, amount) =>
    paid(context, client, { amount, method: 'cards', capture: 'manual' }),
  'payment.cancelled': async (_, client, amount) => {
    const { payment } = await client.payments.create({ amount });
    await client.payments.cancel(payment.id);
    return payment.id;
  },
  'payment.expired': async (context, client, amount) => {
    const { payment } = await client.payments.create({ amount, ttl_minutes: 1 });
    context.output.remark('its link ends in a minute');
    return payment.id;
  },
  'payment.refunded': async (context, client, amount) => {
    const id = await succeeded(context, client, amount);
    await client.payments.refund(id, { reason: 'psp trigger' });
    return id;
  },
  'refund.succeeded': async (context, client, amount) => {
    const id = await succeeded(context, client, amount);
    const refund = await client.payments.refund(id, { reason: 'psp trigger' });
    await until(context, 'the refund', async () => {
      const { refunds } = await client.payments.get(id);
      return refunds.find((one) => one.id === refund.id && one.status === 'succeeded');
    });
    return id;
  },
  'refund.failed': async (context, client, amount) => {
    // The last two digits decide: 01 is declined.
    const declined = Math.ceil(amount / 100) * 100 + 1;
    const id = await succeeded(context, client, declined * 2);
    return (await client.payments.refund(id, { amount: declined })).id;
  },
  'payout.created': payOut(phone),
  'payout.succeeded': payOut(phone),
  'payout.failed': payOut(phoneOfNobody),
  'link.paid': async ({ stopped }, client, amount) => {
    const { link } = await client.links.create({ amount, description: 'psp trigger' });
    await chooseAndPay(await useLink(link.url, stopped), stopped);
    return link.id;
  },
  'receipt.registered': (context, client, amount) => receiptOf(context, client, amount),
  'receipt.failed': (context, client, amount) =>
    receiptOf(context, client, amount, { simulator_receipt: 'failed' }),
  'subscription.activated': subscribed,
  'subscription.cancelled': async (context, client, amount) => {
    const id = await subscribed(context, client, amount);
    await client.subscriptions.cancel(id);
    return id;
  },
  'subscription.past_due': pastDue,
  'token.activated': bound,
  'token.cancelled': async (context, client, amount) => {
    const id = await bound(context, client, amount);
    await client.tokens.cancel(id);
    return id;
  },
} satisfies Readonly<Partial<Record<WebhookEventName | 'refund.succeeded', Trigger>>>;

const names = Object.keys(triggers);
const isKnown = (name: string): name is keyof typeof triggers => names.includes(name);

export const trigger: Command = {
  name: 'trigger',
  args: '<event>',
  says: 'make an event happen in test mode',
  choices: names,
  notes: [
    "subscription.past_due moves the shop's test clock on by a day, for which PSP_OPERATOR_TOKEN is",
    'needed. What happens meanwhile is dated ahead; a shop that had no clock has none afterwards.',
  ],
  options: { amount: { says: 'in minor units; 10000 when left out', value: 'minor' } },
  run: async (context) => {
    const { given, output, settings } = context;
    const [name = ''] = given.args;
    if (!isKnown(name))
      throw new Failure('usage', `there is no event ${name}; there are ${names.join(', ')}`);
    if (!settings.apiKey?.startsWith('sk_test_'))
      throw new Failure('usage', 'events are made in test mode alone: take an sk_test_ key');
    const client = context.client();
    const amount = readAmount(given.text('amount') ?? '10000');
    const subject_id = await triggers[name](context, client, amount);
    const expected = name === 'refund.succeeded' ? 'payment.refunded' : name;
    const { id, event, created_at } = await until(context, `the event ${expected}`, async () => {
      const [found] = await client.eventLog.list({ event: [expected], subject_id }).first(1);
      return found;
    });
    output.result({ id, event, created_at, subject_id }, `${event}  ${id}  of ${subject_id}`);
  },
};

/* `psp pay`: pays a test payment as a buyer does, on its page and at the simulated bank. */

interface Plan {
  /** Null: the simulated bank's own card. */
  readonly card: string | null;
  readonly declines: boolean;
  /** Why the bank declines; null: it decides. */
  readonly failureCode: string | null;
  readonly bankCode: string;
}

/** Six digits are what a buyer types at the bank; a word says why the bank declines. */
const planOf = (given: Given): Plan => {
  const [card, code] = [given.text('card'), given.text('code')];
  const digits = card?.replaceAll(/[\s-]/g, '');
  if (digits !== undefined && !/^\d{12,19}$/.test(digits))
    throw new Failure('usage', '--card: expected the number of a card');
  if (code !== undefined && !/^(?:\d{6}|[a-z_]+)$/.test(code))
    throw new Failure('usage', '--code: expected six digits, or a failure code');
  const failureCode = code !== undefined && /^[a-z]/.test(code) ? code : null;
  return {
    card: digits ?? null,
    declines: given.has('decline') || failureCode !== null,
    failureCode,
    bankCode: failureCode === null ? (code ?? '123456') : '123456',
  };
};

const isOver = ({ status }: PageState): boolean => status !== 'pending' && status !== 'processing';

/** Chooses, plans and continues to the bank; nothing of it for a payment that is there already. */
const goOn = async (url: string, shown: PageState, plan: Plan, stopped: AbortSignal) => {
  if (shown.status !== 'pending') return;
  const wanted = plan.card === null ? (shown.methods[0] ?? 'cards') : 'cards';
  const method = shown.method === 'any' ? wanted : shown.method;
  if (plan.card !== null && method !== 'cards')
    throw new Failure('usage', `--card: the payment is paid by ${method}`);
  if (shown.method === 'any') await postJson(`${url}/method`, { method }, stopped);
  if (plan.declines) {
    const { failureCode } = plan;
    const answer = await postJson(`${url}/plan`, { outcome: 'failed', failureCode }, stopped);
    // The page's own script reads the same.
    const { plannedFailureCode: is } = (await answer.json()) as { plannedFailureCode: string };
    if (failureCode !== null && is !== failureCode)
      throw new Failure('usage', `--code: the simulated bank has no failure code ${failureCode}`);
  }
  const card = { ...testCard, ...(plan.card === null ? {} : { number: plan.card }) };
  await postJson(`${url}/pay`, method === 'cards' ? { card } : {}, stopped);
};

/** Pays on the page at `url`; gives the state in which it ends. */
const payOn = async (context: Context, url: string, plan: Plan): Promise<PageState> => {
  const { stopped } = context;
  const shown = await readPage(url, stopped);
  if (shown.mode !== 'test')
    throw new Failure('refused', 'this payment is a live one: its buyer pays it in a browser');
  if (isOver(shown)) throw new Failure('refused', `the payment is ${shown.status} already`);
  await goOn(url, shown, plan, stopped);
  let isAnswered = false;
  return until(context, 'the answer of the simulated bank', async () => {
    const state = await readPage(url, stopped);
    // Else the bank's answer is planned, and comes by itself.
    const isAsked = state.status === 'processing' && state.plannedOutcome === 'requires_action';
    if (isAsked && state.step !== null && !isAnswered) {
      isAnswered = true;
      const answer = plan.declines ? 'decline' : 'approve';
      const body = new URLSearchParams({ answer, code: plan.bankCode });
      await post(`${url}/bank`, { body, signal: stopped });
    }
    return isOver(state) ? state : null;
  });
};

/** The page of a payment; that of a link makes one. */
const pageOf = async (text: string, stopped: AbortSignal): Promise<string> => {
  const address = URL.parse(text);
  if (!address || !/^\/pay\/(?:l\/)?[\w-]+\/?$/.test(address.pathname))
    throw new Failure('usage', 'expected the payment_url of a payment');
  const url = `${address.origin}${address.pathname.replace(/\/$/, '')}`;
  return address.pathname.startsWith('/pay/l/') ? useLink(url, stopped) : url;
};

export const payCommand: Command = {
  name: 'pay',
  args: '<payment_url>',
  says: 'pay a test payment as its buyer, without a browser',
  options: {
    card: { says: 'the card to pay with', value: 'number' },
    decline: { says: 'have the bank decline' },
    code: { says: 'what is typed at the bank, or why it declines', value: 'digits|failure_code' },
  },
  notes: [
    'It needs no key. A payment that leaves the method open is paid by the first one, or by --card.',
    'psp pay <payment_url> --code insufficient_funds declines with that code.',
    'It ends with 1 when the payment ended otherwise than it was asked to.',
  ],
  run: async (context) => {
    const { given, output, stopped } = context;
    const plan = planOf(given);
    const url = await pageOf(given.args[0] ?? '', stopped);
    const { paymentId, status, failureCode } = await payOn(context, url, plan);
    const why = failureCode === null ? '' : ` (${failureCode})`;
    output.result({ id: paymentId, status, failure_code: failureCode }, `${status}${why}`);
    if ((status === 'failed') !== plan.declines || status === 'expired' || status === 'cancelled')
      throw new Failure('refused', `the payment is ${status}${why}`);
  },
};
