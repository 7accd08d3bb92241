/**
 * What the merchant of a chaos run and its buyers do: payments, holds, links, refunds, charges of
 * saved cards and payouts, each with an idempotency key of its own and insisted on until it is
 * answered, as an honest client does whose connection breaks.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { seeded } from '../acquirer/faults.ts';
import { cardOf, type LiveMerchant } from '../live/harness.ts';
import type { Answer } from '../support/merchant.ts';
import { receiptOf } from '../support/receipts.ts';
import { goOn, insist } from './insist.ts';
import { payLink } from './pay-link.ts';
import { eventually } from '../support/eventually.ts';

export type Kind = 'payment' | 'hold' | 'link' | 'refund' | 'charge' | 'payout';
const kinds: readonly Kind[] = [
  'payment',
  'hold',
  'refund',
  'payout',
  'payment',
  'charge',
  'payout',
  'refund',
  'link',
  'charge',
];

/** What has been done, and of what the rest can be made. */
export interface Done {
  readonly counts: Record<Kind, number>;
  /** Answers that refused an operation, by their codes. */
  readonly refusals: Map<string, number>;
  readonly tokens: readonly string[];
  /** The pages on which a card was typed. */
  readonly pages: string[];
  /** Payments that were given with a receipt. */
  readonly receipted: Set<string>;
  /** The links that were made, each for one use, and the two buyers of each. */
  readonly links: string[];
}

type Random = () => number;
const oneOf = <Item>(items: readonly Item[], random: Random): Item | undefined =>
  items[Math.floor(random() * items.length)];

/** The buyers look at their pages, and type their card again where it was lost. */
export const typeAgain = async (pages: readonly string[]): Promise<void> => {
  for (const page of pages) {
    const state: any = await fetch(`${page}/state`).then(
      (answer) => answer.json(),
      () => null,
    );
    if (state?.status === 'processing' && state.step === null) await goOn(page, cardOf());
  }
};

/**
 * Some fail at the bank (01), some succeed after a while (07), of some the first receipt fails
 * (08), most succeed at once.
 */
const amountOf = (random: Random, least: number): number => {
  const rubles = least + Math.floor(random() * 400);
  const fate = random();
  return rubles * 100 + (fate < 0.08 ? 1 : fate < 0.2 ? 7 : fate < 0.3 ? 8 : 0);
};

/** A receipt of an amount, for every second payment. */
const withReceipt = (random: Random, amount: number) =>
  random() < 0.5 ? { receipt: receiptOf(amount) } : {};

const note = ({ receipted }: Done, { body, status }: Answer, given: object): void => {
  if (status < 300 && 'receipt' in given) receipted.add(body.payment.id);
};

const pay = async (
  merchant: LiveMerchant,
  random: Random,
  key: string,
  done: Done,
): Promise<Answer> => {
  const method = oneOf(['sbp', 'sbp', 'cards', 'tpay'], random) ?? 'sbp';
  const amount = amountOf(random, 100);
  const given = withReceipt(random, amount);
  const answer = await insist(() =>
    merchant.call('POST', '/payments', { amount, method, ...given }, { 'idempotency-key': key }),
  );
  note(done, answer, given);
  if (answer.status < 300)
    await goOn(answer.body.payment_url, method === 'cards' ? cardOf() : null);
  if (answer.status < 300 && method === 'cards') done.pages.push(answer.body.payment_url);
  return answer;
};

/** A payment whose money is held first, and then captured, all or a part, or given up. */
const hold = async (
  merchant: LiveMerchant,
  random: Random,
  key: string,
  done: Done,
): Promise<Answer> => {
  const method = oneOf(['cards', 'cards', 'tpay'], random) ?? 'cards';
  const amount = amountOf(random, 100);
  const given = withReceipt(random, amount);
  const made = await insist(() =>
    merchant.call(
      'POST',
      '/payments',
      { amount, method, capture: 'manual', ...given },
      { 'idempotency-key': key },
    ),
  );
  note(done, made, given);
  if (made.status >= 300) return made;
  await goOn(made.body.payment_url, method === 'cards' ? cardOf() : null);
  if (method === 'cards') done.pages.push(made.body.payment_url);
  const { id } = made.body.payment;
  for (;;) {
    const { body } = await insist(() => merchant.call('GET', `/payments/${id}`));
    if (body.status === 'authorized') break;
    // What is not held soon is given up at its end.
    if (body.status !== 'pending' && body.status !== 'processing') return made;
    await typeAgain([made.body.payment_url]);
    await delay(500);
  }
  if (random() < 0.3) return insist(() => merchant.call('POST', `/payments/${id}/cancel`));
  const captured = random() < 0.5 ? 5_000 : amount - (amount % 100);
  const part = {
    amount: captured,
    ...('receipt' in given ? { receipt: receiptOf(captured) } : {}),
  };
  return insist(() =>
    merchant.call('POST', `/payments/${id}/capture`, part, { 'idempotency-key': `capture-${key}` }),
  );
};

/** A link for one use, with a receipt or without, that two buyers pay. */
const link = async (
  merchant: LiveMerchant,
  random: Random,
  key: string,
  { links }: Done,
): Promise<Answer> => {
  const amount = 100 * (100 + Math.floor(random() * 400));
  const answer = await payLink(merchant, key, { amount, ...withReceipt(random, amount) });
  if (answer.status < 300) links.push(answer.body.link.id);
  return answer;
};

const giveBack = async (
  merchant: LiveMerchant,
  random: Random,
  key: string,
  { receipted }: Done,
): Promise<Answer> => {
  const { body } = await insist(() => merchant.call('GET', '/payments?status=succeeded&limit=100'));
  const payment = oneOf<any>(body.items, random);
  // A tenth of the refunds is of all that is left.
  const amount = random() < 0.1 ? undefined : amountOf(random, 1) % 1_000;
  return insist(() =>
    merchant.call(
      'POST',
      `/payments/${payment.id}/refund`,
      amount && amount >= 100
        ? { amount, ...(receipted.has(payment.id) ? { receipt: receiptOf(amount) } : {}) }
        : {},
      { 'idempotency-key': key },
    ),
  );
};

const payOut = (merchant: LiveMerchant, random: Random, key: string): Promise<Answer> => {
  const to =
    random() < 0.6
      ? { phone: '+79161234567', bank_id: '100000000111' }
      : { method: 'payouts_card', card_pan: cardOf().number };
  const amount = amountOf(random, 10);
  return insist(() =>
    merchant.call('POST', '/payouts', { amount, ...to }, { 'idempotency-key': key }),
  );
};

const charge = (
  merchant: LiveMerchant,
  random: Random,
  key: string,
  { tokens }: Done,
): Promise<Answer> => {
  const [amount, token] = [amountOf(random, 50), oneOf(tokens, random)];
  return insist(() =>
    merchant.call('POST', `/tokens/${token}/charge`, { amount }, { 'idempotency-key': key }),
  );
};

const does = { payment: pay, hold, link, refund: giveBack, payout: payOut, charge } as const;

/** Money to pay out, and cards that can be charged, before anything goes wrong. */
export const prepare = async (merchant: LiveMerchant): Promise<readonly string[]> => {
  for (const index of Array.from({ length: 8 }, (_, place) => place)) {
    const { body } = await merchant.call('POST', '/payments', {
      amount: 69_000_000,
      method: 'sbp',
      order_id: `first-${index}`,
    });
    await goOn(body.payment_url, null);
  }
  for (const customer of ['c-1', 'c-2', 'c-3']) {
    const { body } = await merchant.call('POST', '/tokens', { customer_ref: customer });
    await goOn(body.pay_url, cardOf());
  }
  const active = async (): Promise<any[]> =>
    (await merchant.call('GET', '/tokens')).body.items.filter(
      ({ status }: any) => status === 'active',
    );
  await eventually(async () => (await active()).length === 3, 'the saved cards');
  await eventually(
    async () => (await merchant.call('GET', '/payments?status=succeeded')).body.items.length >= 8,
    'the first money',
  );
  return (await active()).map(({ id }) => id);
};

export const newDone = (tokens: readonly string[]): Done => ({
  counts: { payment: 0, hold: 0, link: 0, refund: 0, charge: 0, payout: 0 },
  refusals: new Map(),
  tokens,
  pages: [],
  receipted: new Set(),
  links: [],
});

export const countOf = ({ counts }: Done): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

/** Does so many operations, some at a time; what each of them is follows from the seed. */
export const doAll = async (
  merchant: LiveMerchant,
  {
    operations,
    atOnce,
    seed,
    print,
  }: { operations: number; atOnce: number; seed: number; print: (line: string) => void },
  done: Done,
): Promise<void> => {
  const indices = Array.from({ length: operations }, (_, index) => index).values();
  const work = async (): Promise<void> => {
    for (const index of indices) {
      const random = seeded(seed + index);
      const kind = kinds[index % kinds.length] ?? 'payment';
      const key = `${kind}-${index}`;
      const answer = await does[kind](merchant, random, key, done);
      done.counts[kind] += 1;
      if (index % 200 === 199) print(`${index + 1} operations`);
      const code: unknown = answer.status < 300 ? null : answer.body?.error?.code;
      if (typeof code === 'string') done.refusals.set(code, (done.refusals.get(code) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
};
