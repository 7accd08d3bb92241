/**
 * Receipts in YooKassa's words: its codes and names are those of our receipts (additions, section
 * 2). What it has no words for is refused before money moves.
 * Those of payments and refunds are ordered with their movements, and only queried; closing and
 * repeated ones are separate orders. Receipts carry no text of ours: one is found by its movement,
 * its kind and its sum. A registered or pending receipt is never ordered again, whatever its origin.
 */
import { LRUCache } from 'lru-cache';
import * as v from 'valibot';
import { largestAmount, minorUnits, type MinorUnits } from '../../rules/money.ts';
import { type ReceiptItem, type ReceiptTerms, itemTotal } from '../../rules/receipt.ts';
import type { Account } from '../bank-accounts.ts';
import { bodyOf, orNull, part, reader, text, unknown } from '../bank-http.ts';
import { markCodeOf } from '../receipt-terms.ts';
import type { ApiAnswer, Client } from './client.ts';
import {
  wireAmount,
  wireMoney,
  amountIn,
  instant,
  readPage,
  type CheckEcho,
  type WireAmount,
} from './wire.ts';
import type { ReceiptAnswer, ReceiptOrder } from '../bank.ts';
import { isAboutUs, type PaymentCalls, type ReceiptRefusal } from './payment-answers.ts';

/**
 * A marked product (tag 1163): its code by its kind, "0" as the mode of its check, and a whole
 * package where pieces are counted.
 */
const wireMark = ({ markCode, measure }: ReceiptItem) => {
  const mark = markCode === null ? null : markCodeOf(markCode);
  if (!mark) return {};
  return {
    // `ean_8`, where we have `ean8`.
    mark_code_info: { [mark.kind.replace(/(?<=[a-z])(?=\d)/, '_')]: mark.code },
    mark_mode: '0',
    ...(measure === 'piece' ? { mark_quantity: { numerator: 1, denominator: 1 } } : {}),
  };
};

const wireItem = (item: ReceiptItem, currency: string) => ({
  description: item.description,
  amount: wireAmount(item.price, currency),
  vat_code: item.vatCode,
  // Its API has numbers; three places are exact in one.
  quantity: Number(item.quantity),
  ...(item.measure === null ? {} : { measure: item.measure }),
  ...(item.paymentSubject === null ? {} : { payment_subject: item.paymentSubject }),
  ...(item.paymentMode === null
    ? {}
    : {
        payment_mode: item.paymentMode === 'prepayment' ? 'partial_prepayment' : item.paymentMode,
      }),
  ...wireMark(item),
});

/** What goes with a movement as `receipt`, and into an order of a receipt of its own. */
export const wireReceipt = (
  { customer: { fullName, inn, email, phone }, taxSystem, items }: ReceiptTerms,
  currency: string,
) => ({
  customer: {
    ...(fullName === null ? {} : { full_name: fullName }),
    ...(inn === null ? {} : { inn }),
    ...(email === null ? {} : { email }),
    ...(phone === null ? {} : { phone: phone.replaceAll(/\D/g, '') }),
  },
  items: items.map((item) => wireItem(item, currency)),
  ...(taxSystem === null ? {} : { tax_system_code: taxSystem }),
});

/** A shop's settings; `fiscalization` says what registers its receipts. */
const settings = part({
  fiscalization: part({ enabled: v.fallback(v.boolean(), false), provider: orNull(text) }),
});
type CashRegister = v.InferOutput<typeof settings>['fiscalization'];

/** YooKassa's own registers, which send receipts by e-mail alone. */
const ownRegisters: ReadonlySet<string> = new Set(['avanpost', 'yoo_receipt']);
const ownItems_max = 80;
const quantity_max = 100_000;

/** Why it does not support a receipt, as a code for people; null when it does. */
export const receiptMistake = (
  { customer, items }: ReceiptTerms,
  register: CashRegister | null,
): string | null => {
  if (register?.enabled === false) return 'no_cash_register';
  const isOwn = ownRegisters.has(register?.provider ?? '');
  if (isOwn && customer.email === null) return 'receipt_email';
  if (isOwn && items.length > ownItems_max) return 'receipt_items';
  if (items.some(({ quantity }) => Number(quantity) >= quantity_max)) return 'receipt_quantity';
  const isMarkUnknown = ({ markCode }: ReceiptItem): boolean =>
    markCode !== null && markCodeOf(markCode) === null;
  return items.some(isMarkUnknown) ? 'receipt_mark_code' : null;
};

// What registers a shop's receipts, in its settings (`/me`). A receipt for a shop without a cash
// register would be lost: its movement is not ordered.

const kept_min = 10;
const shops_max = 1_000;
/** An order stops waiting for the settings, and is sent without them. */
const patience_ms = 2_000;

interface Known {
  readonly until: Temporal.Instant;
  readonly register: Promise<CashRegister | null>;
}

// YooKassa's receipts and a shop's settings of them, as they arrive.

const described = v.object({
  id: text,
  type: v.picklist(['payment', 'refund']),
  status: v.picklist(['pending', 'succeeded', 'canceled']),
  payment_id: orNull(text),
  refund_id: orNull(text),
  fiscal_storage_number: orNull(text),
  fiscal_document_number: orNull(text),
  fiscal_attribute: orNull(text),
  registered_at: orNull(instant),
  items: v.array(v.object({ quantity: v.number(), amount: wireMoney })),
  settlements: orNull(v.array(v.object({ type: v.string(), amount: wireMoney }))),
});

/** More than any receipt has: what is beyond is not read. */
const price = /^\d{1,8}\.\d{2}$/;

const kopecks = (amount: WireAmount): MinorUnits | null =>
  price.test(amount.value) ? amountIn(amount, 'RUB') : null;

/** The sum of what is all there; null when a part is not, or it is no amount of money. */
const together = (parts: readonly (bigint | null)[]): MinorUnits | null => {
  const sum = parts.reduce((so, each) => (so === null || each === null ? null : so + each), 0n);
  return sum === null || sum > largestAmount ? null : minorUnits(sum);
};

const totalOf = ({ quantity, amount }: v.InferOutput<typeof described>['items'][number]) => {
  const ofOne = kopecks(amount);
  if (ofOne === null || !(quantity >= 0 && quantity < quantity_max)) return null;
  return itemTotal({ price: ofOne, quantity: quantity.toFixed(3) });
};

/** What registers it; null until all of it is there. */
const registeredAs = ({
  fiscal_storage_number: fiscalStorageNumber,
  fiscal_document_number: fiscalDocumentNumber,
  fiscal_attribute: fiscalAttribute,
  registered_at: registeredAt,
}: v.InferOutput<typeof described>) =>
  fiscalStorageNumber && fiscalDocumentNumber && fiscalAttribute && registeredAt
    ? { fiscalStorageNumber, fiscalDocumentNumber, fiscalAttribute, registeredAt }
    : null;

const receiptOf = (output: v.InferOutput<typeof described>) => {
  const { id, status, payment_id: paymentId, refund_id: refundId, items } = output;
  const settlements = output.settlements ?? [];
  const isClosing =
    output.type === 'payment' && settlements.some(({ type }) => type === 'prepayment');
  // As its settlements state it, else as its items do.
  const sums =
    settlements.length > 0 ? settlements.map(({ amount }) => kopecks(amount)) : items.map(totalOf);
  return {
    id,
    /** One that settles a prepayment is a closing one. */
    type: isClosing ? 'closing' : output.type,
    status,
    paymentId,
    refundId,
    /** Null when it cannot be read. */
    sum: together(sums),
    fiscal: registeredAs(output),
  };
};
type WireReceipt = ReturnType<typeof receiptOf>;

/** A receipt; null when what every receipt has cannot be read. */
const readReceipt = reader(v.pipe(described, v.transform(receiptOf)));

/** Opens the lookup; settings are cached for ten minutes. */
export const openReceiptRefusal = (client: Client): ReceiptRefusal => {
  const known = new LRUCache<string, Known>({ max: shops_max });
  const ask = async (account: Account): Promise<CashRegister | null> => {
    const signal = AbortSignal.timeout(patience_ms);
    const answer = await client.call({ account, path: '/me', signal });
    // Without an answer the next order queries again.
    if (answer.kind !== 'answered') known.delete(account.id);
    return answer.kind === 'answered' ? v.parse(settings, answer.body).fiscalization : null;
  };
  const registerOf = (shop: Account, now: Temporal.Instant): Promise<CashRegister | null> => {
    const found = known.get(shop.id);
    if (found && Temporal.Instant.compare(now, found.until) < 0) return found.register;
    const register = ask(shop);
    known.set(shop.id, { until: now.add({ minutes: kept_min }), register });
    return register;
  };
  return async (shop, terms, now) => {
    if (!terms) return null;
    return receiptMistake(terms, null) ?? receiptMistake(terms, await registerOf(shop, now));
  };
};

/** There are at most 50 receipts of a payment. */
const listed_max = '100';
/** After this a receipt that was ordered with its movement, and is not there, never came to be. */
const appearsWithin_h = 24;
/** After this its support is to be asked about one that is still pending (its own guide). */
const registersWithin_h = 72;

/** How long after its last answer a receipt of so many seconds is asked about. */
const rests = [
  { younger_s: 60, rest_s: 3 },
  { younger_s: 600, rest_s: 20 },
  { younger_s: 3_600, rest_s: 120 },
] as const;
const usualRest_s = 1_800;

const age_s = ({ createdAt, now }: ReceiptOrder): number =>
  (now.epochMilliseconds - createdAt.epochMilliseconds) / 1_000;

const pending = (order: ReceiptOrder): ReceiptAnswer => {
  const rest = rests.find(({ younger_s }) => age_s(order) < younger_s);
  return { kind: 'pending', askAt: order.now.add({ seconds: rest?.rest_s ?? usualRest_s }) };
};

const failed = (reason: string): ReceiptAnswer => ({ kind: 'failed', reason });

const standing = (order: ReceiptOrder, { id, status, fiscal }: WireReceipt): ReceiptAnswer => {
  if (status === 'canceled') return failed(`YooKassa could not register its receipt ${id}`);
  if (status === 'succeeded' && fiscal) return { kind: 'registered', ...fiscal };
  const isLate = order.attempt === 0 && age_s(order) > registersWithin_h * 3_600;
  return isLate
    ? failed(`YooKassa's receipt ${id} is ${status} for three days: ask its support`)
    : pending(order);
};

/** Whether a receipt is of the ordered movement, kind and sum. */
const isOrdered = (
  { type, payment, refund, amount }: ReceiptOrder,
  receipt: WireReceipt,
): boolean => {
  const isOfMovement =
    refund === null
      ? receipt.paymentId === payment.reference
      : receipt.refundId === refund.reference;
  return isOfMovement && receipt.type === type && receipt.sum === amount;
};

/** A receipt in the comparison that every object of a bank is in. */
const echoOf = (order: ReceiptOrder, receipt: WireReceipt): Parameters<CheckEcho> => {
  const { receiptId, amount, currency } = order;
  const metadata = { operation_id: isOrdered(order, receipt) ? receiptId : null };
  const repeated = wireAmount(receipt.sum ?? amount, currency);
  return [
    { ...order, operationId: receiptId },
    { id: receipt.id, metadata, amount: repeated },
  ];
};

/** The receipts of a movement; null when they cannot be read. */
const listOf = async (
  { client, shop }: PaymentCalls,
  { payment, refund }: ReceiptOrder,
): Promise<readonly WireReceipt[] | null> => {
  const movement = refund
    ? { refund_id: refund.reference ?? '' }
    : { payment_id: payment.reference ?? '' };
  const query = { ...movement, limit: listed_max };
  const answer = await client.call({ account: shop, path: '/receipts', query });
  return readPage(bodyOf(answer), readReceipt)?.items ?? null;
};

/** The bank's word on an order of a receipt, which may have been given before under its key. */
const ordered = async (
  { checkEcho }: PaymentCalls,
  order: ReceiptOrder,
  answer: ApiAnswer,
): Promise<ReceiptAnswer> => {
  switch (answer.kind) {
    case 'answered': {
      const receipt = readReceipt(answer.body);
      if (!receipt) return unknown;
      // It is asked for again, and an alert was raised.
      return (await checkEcho(...echoOf(order, receipt))) ? standing(order, receipt) : unknown;
    }
    case 'rejected':
      // What is about our own account an operator corrects; what may have been accepted is looked
      // for.
      return isAboutUs(answer) || !answer.isCertain
        ? unknown
        : failed(`YooKassa refused it: ${[answer.code, answer.parameter ?? ''].join(' ').trim()}`);
    case 'unreached':
    case 'unknown':
      return unknown;
  }
};

const give = (
  { client, shop }: PaymentCalls,
  { receiptId, attempt, type, payment, refund, amount, currency, terms }: ReceiptOrder,
): Promise<ApiAnswer> => {
  const body = {
    type: type === 'refund' ? 'refund' : 'payment',
    ...(refund ? { refund_id: refund.reference } : { payment_id: payment.reference }),
    send: true,
    ...wireReceipt(terms, currency),
    settlements: [
      {
        type: type === 'closing' ? 'prepayment' : 'cashless',
        amount: wireAmount(amount, currency),
      },
    ],
  };
  const key = `${receiptId}-${attempt}`;
  return client.call({ account: shop, path: '/receipts', post: { key, body } });
};

/** Orders a receipt, or queries its result. */
export const orderReceipt = async (
  calls: PaymentCalls,
  order: ReceiptOrder,
): Promise<ReceiptAnswer> => {
  if (order.refund?.reference === null) return unknown;
  const listed = await listOf(calls, order);
  if (!listed) return unknown;
  const same = listed.filter((each) => isOrdered(order, each));
  const live = same.find(({ status }) => status !== 'canceled');
  if (live) return standing(order, live);
  const isOwnOrder = order.type === 'closing' || order.attempt > 0;
  if (isOwnOrder) return ordered(calls, order, await give(calls, order));
  const [cancelled] = same;
  if (cancelled) return standing(order, cancelled);
  return age_s(order) > appearsWithin_h * 3_600
    ? failed('YooKassa has no such receipt')
    : pending(order);
};
