/**
 * Receipts at YooKassa. Those of payments and refunds are ordered with their movements, and only
 * queried; closing and repeated ones are separate orders. Receipts carry no text of ours: one is
 * found by its movement, its kind and its sum. A registered or pending receipt is never ordered
 * again, whatever its origin.
 */
import type { ReceiptAnswer, ReceiptBank, ReceiptOrder } from '../bank.ts';
import { holderOf, type ApiAnswer } from './client.ts';
import { wireAmount, readPage, type CheckEcho } from './wire.ts';
import { isAboutUs, unknown, type PaymentCaller, type PaymentCalls } from './payment-answers.ts';
import { readReceipt, type WireReceipt, wireReceipt } from './receipt-words.ts';

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
  if (status === 'succeeded' && fiscal) {
    return {
      kind: 'registered',
      fiscalStorageNumber: fiscal.storageNumber,
      fiscalDocumentNumber: fiscal.documentNumber,
      fiscalAttribute: fiscal.attribute,
      registeredAt: fiscal.registeredAt,
    };
  }
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
  const operationId = isOrdered(order, receipt) ? receiptId : null;
  const repeated = wireAmount(receipt.sum ?? amount, currency);
  return [
    { ...order, operationId: receiptId },
    { id: receipt.id, operationId, amount: repeated },
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
  return (answer.kind === 'answered' && readPage(answer.body, readReceipt)?.items) || null;
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

const receipt = async (calls: PaymentCalls, order: ReceiptOrder): Promise<ReceiptAnswer> => {
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

/** The part of the port that registers receipts: by the account that has the payment. */
export const yooKassaReceipts = (
  callerOf: (merchantId: string) => Promise<PaymentCaller>,
): Required<ReceiptBank> => ({
  receipt: async (order) => {
    const { reference } = order.payment;
    if (reference === null || order.refund?.reference === null) return unknown;
    const caller = await callerOf(order.merchantId);
    const shop = await holderOf(caller, `/payments/${reference}`);
    return shop ? receipt({ ...caller, shop }, order) : unknown;
  },
});
