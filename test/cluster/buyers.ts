/**
 * Load as it comes: buyers who create payments, pay them by card and have some refunded, through
 * the balancer, while the fleet is worked on. A call that is answered `unavailable`, or not at all,
 * is made again under its idempotency key; any other answer that is not the expected one is a lost
 * request.
 */
import { AssertionError } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, patience_ms } from '../support/eventually.ts';
import { openReceiver, openStream, type Answer, type Merchant } from '../support/merchant.ts';

const card = { number: '4111 1111 1111 1111', expiry: '12/30', cvc: '123', holder: 'IVAN PETROV' };
const again_ms = 100;

/** How the calls of the load were answered. */
export interface Tally {
  calls: number;
  /** 503 `unavailable` with Retry-After: safe to make again. */
  unavailable: number;
  /** The connection broke: the caller does not know. */
  broken: number;
  /** Anything else that is not what the contract says for the call. */
  readonly wrong: string[];
}

export interface Bought {
  readonly id: string;
  readonly begun_ms: number;
  readonly isRefunded: boolean;
}

export interface Buyers {
  readonly tally: Tally;
  readonly bought: readonly Bought[];
  /** Lets all buyers finish what they have begun. Rejects when one had to give up. */
  stop(): Promise<void>;
}

/**
 * Makes a call until one of these statuses answers it. An answer that the contract does not
 * describe is an AssertionError of the client's.
 */
const insist = async (
  tally: Tally,
  good: readonly number[],
  call: () => Promise<Answer>,
): Promise<any> => {
  const deadline = performance.now() + patience_ms;
  for (;;) {
    tally.calls += 1;
    const answer = await call().catch((error: unknown) => {
      if (error instanceof AssertionError) tally.wrong.push(error.message);
      else tally.broken += 1;
      return null;
    });
    if (answer && good.includes(answer.status)) return answer.body;
    if (
      answer?.status === 503 &&
      answer.body?.error?.code === 'unavailable' &&
      answer.headers.has('retry-after')
    )
      tally.unavailable += 1;
    else if (answer) tally.wrong.push(`${answer.status} ${JSON.stringify(answer.body)}`);
    if (performance.now() > deadline)
      throw new Error(`no answer within ${patience_ms} ms; ${JSON.stringify(tally)}`);
    await sleep(again_ms);
  }
};

const payAtPage = async (paymentUrl: string): Promise<Answer> => {
  const response = await fetch(`${paymentUrl}/pay`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: new URL(paymentUrl).origin },
    body: JSON.stringify({ card }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text.startsWith('{') ? JSON.parse(text) : text,
  };
};

/** What a buyer sees on the page. */
const seenAtPage = async (paymentUrl: string): Promise<Answer> => {
  const response = await fetch(`${paymentUrl}/state`);
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text.startsWith('{') ? JSON.parse(text) : text,
  };
};

/** Looks at a payment until it has ended; `meanwhile` is done while it has not. */
const untilOver = async (
  find: () => Promise<any>,
  meanwhile: () => Promise<void>,
): Promise<any> => {
  let payment: any;
  return eventually(
    async () => {
      payment = await find();
      if (!['pending', 'processing'].includes(payment.status)) return payment;
      await meanwhile();
    },
    () => `the end of ${JSON.stringify(payment)}`,
  );
};

/** Starts so many buyers, who buy one thing after another until `stop`. */
export const startBuyers = (merchant: Merchant, count: number): Buyers => {
  const tally: Tally = { calls: 0, unavailable: 0, broken: 0, wrong: [] };
  const bought: Bought[] = [];
  let index = 0;
  const stopping = new AbortController();
  const buy = async (order: number): Promise<void> => {
    const begun_ms = performance.now();
    const wanted = { amount: 1_000, method: 'cards', order_id: `order-${order}` };
    const created = await insist(tally, [200, 201], () =>
      merchant.call('POST', '/payments', wanted, { 'idempotency-key': `order-${order}` }),
    );
    // 409: an earlier call, whose answer was lost, has opened the session.
    const press = (): Promise<unknown> =>
      insist(tally, [200, 409], () => payAtPage(created.payment_url));
    await press();
    // The card of a buyer whose process died on the way to the bank is typed again.
    const pressAgain = async (): Promise<void> => {
      const { status, step } = await insist(tally, [200], () => seenAtPage(created.payment_url));
      if (status === 'processing' && step === null) await press();
    };
    const { id } = created.payment;
    const isRefunded = order % 3 === 0;
    bought.push({ id, begun_ms, isRefunded });
    const find = (): Promise<any> =>
      insist(tally, [200], () => merchant.call('GET', `/payments/${id}`));
    const payment = await untilOver(find, pressAgain);
    if (!isRefunded || payment.status !== 'succeeded') return;
    await insist(tally, [200, 201], () =>
      merchant.call('POST', `/payments/${id}/refund`, {}, { 'idempotency-key': `refund-${order}` }),
    );
  };
  const shop = async (): Promise<void> => {
    while (!stopping.signal.aborted) await buy(index++);
  };
  const shopping = Promise.allSettled(Array.from({ length: count }, shop));
  return {
    tally,
    bought,
    stop: async () => {
      stopping.abort();
      for (const ended of await shopping) if (ended.status === 'rejected') throw ended.reason;
    },
  };
};

/** Follows the merchant's stream through the balancer, and resumes it wherever it ends. */
export const followStream = (merchant: Merchant, rest: string) => {
  const events: { readonly event: string; readonly id: string; readonly data: any }[] = [];
  const stopping = new AbortController();
  let current: Awaited<ReturnType<typeof openStream>> | null = null;
  const following = (async () => {
    while (!stopping.signal.aborted) {
      const last = events.at(-1)?.id;
      current = await openStream(rest, merchant.key, last ? { 'last-event-id': last } : {}).catch(
        () => null,
      );
      const stream = current;
      // What the stream has sent when it ends is whole: a block that was cut off has no end.
      await stream?.ended;
      if (stream?.response.status === 200) events.push(...stream.events);
      if (!stopping.signal.aborted) await sleep(again_ms);
    }
  })();
  return {
    events: () => [
      ...events,
      ...(current?.events ?? []).filter(({ id }) => !events.some((known) => known.id === id)),
    ],
    stop: async () => {
      stopping.abort();
      await current?.close();
      await following;
    },
  };
};

/** A receiver of webhooks that knows when each payment was first notified. */
export const openTimedReceiver = async () => {
  const arrivals = new Map<string, number>();
  const receiver = await openReceiver((index) => {
    const id: unknown = receiver.received[index]?.body.data.id;
    if (typeof id === 'string' && !arrivals.has(id)) arrivals.set(id, performance.now());
    return 200;
  });
  return { ...receiver, arrivals };
};
