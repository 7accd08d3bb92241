/**
 * Payments at YooKassa: by SBP (a QR code), cards (the card goes straight there; 3-D Secure on its
 * page), T-Pay and SberPay (its page). A card that only proves itself is authorised without being
 * captured, and the authorisation is cancelled.
 */
import { bodyOf, isVoided, stopped, unavailable, unknown, unseenAfter } from '../bank-http.ts';
import type {
  Bank,
  Card,
  SessionAnswer,
  SessionOrder,
  PaymentQuestion,
  BankAnswer,
} from '../bank.ts';
import type { BuyerMethod } from '../../rules/banks.ts';
import { askEach, type ApiAnswer } from './client.ts';
import { wireAmount, readPayment, type WirePayment } from './wire.ts';
import {
  askEvery_s,
  declined,
  findListed,
  isAboutUs,
  metadataOf,
  declinedOrder,
  traitsOf,
  type PaymentCaller,
  type PaymentCalls,
  approved,
  standing,
  stepOf,
  get,
  post,
  withHolder,
} from './payment-answers.ts';
import { wireReceipt } from './receipts.ts';
import { held, isReleased } from './holds.ts';

/*
 * The result of an order at YooKassa. An order whose answer was lost is looked up in the list of
 * payments.
 */

/** How much of the list is read: within the minutes around an order. */
const pages_max = 100;

const isOurVoid = ({ status, cancellation_details }: WirePayment): boolean =>
  status === 'canceled' && cancellation_details.reason === 'canceled_by_merchant';

/** Voids the card's authorisation; the method is verified when that is certain. */
const voidAuthorisation = async (
  calls: PaymentCalls,
  asked: PaymentQuestion,
  payment: WirePayment,
): Promise<BankAnswer> => {
  const path = `/payments/${payment.id}/cancel`;
  const answer = await post(calls, path, `${asked.operationId}-void`, {});
  const after = readPayment(bodyOf(answer));
  return after && isOurVoid(after) ? approved(after) : unknown;
};

/** The money is to be held: what was captured of it may be less than was ordered. */
const settleHeld = async (
  calls: PaymentCalls,
  asked: PaymentQuestion,
  payment: WirePayment,
): Promise<BankAnswer> => {
  if (payment.metadata.operation_id === asked.operationId && isReleased(payment))
    return { kind: 'released' };
  if (payment.status !== 'waiting_for_capture') return standing(calls, asked, payment);
  return (await calls.checkEcho(asked, payment)) ? held(payment, asked.now) : stopped;
};

const settle = async (
  calls: PaymentCalls,
  asked: PaymentQuestion,
  payment: WirePayment,
): Promise<BankAnswer> => {
  if (asked.holds) return settleHeld(calls, asked, payment);
  if (!asked.voided) return standing(calls, asked, payment);
  if (!(await calls.checkEcho(asked, payment))) return stopped;
  if (payment.status === 'waiting_for_capture') return voidAuthorisation(calls, asked, payment);
  return isOurVoid(payment) ? approved(payment) : standing(calls, asked, payment);
};

/** The result of a search. Null: the order is missing; `unknown`: the list could not be read. */
type Found = WirePayment | null | typeof unknown;

/**
 * Looks for an order whose answer was lost among the payments of the minutes in which it may have
 * been given: with the session, or before it, when it was registered.
 */
const search = async (
  calls: PaymentCalls,
  { operationId, createdEarlyAt, orderedAt, lastOrderedAt }: PaymentQuestion,
): Promise<Found> => {
  const within = (first: Temporal.Instant, last: Temporal.Instant): Promise<Found> => {
    const query = {
      'created_at.gte': first.subtract({ seconds: 30 }).toString(),
      'created_at.lte': last.add({ minutes: 2 }).toString(),
    };
    const list = { path: '/payments', query, pages_max };
    return findListed(calls, list, readPayment, operationId);
  };
  return (
    (await within(orderedAt, lastOrderedAt)) ??
    (createdEarlyAt && within(createdEarlyAt, createdEarlyAt))
  );
};

/** Asks what became of an order. */
const askPayment = async (calls: PaymentCalls, asked: PaymentQuestion): Promise<BankAnswer> => {
  if (asked.reference !== null) {
    const answer = await get(calls, `/payments/${asked.reference}`);
    const payment = readPayment(bodyOf(answer));
    return payment ? settle(calls, asked, payment) : unknown;
  }
  const found = await search(calls, asked);
  if (found && 'kind' in found) return unknown;
  if (found) return settle(calls, asked, found);
  return unseenAfter(asked);
};

const wireMethods: Readonly<Record<BuyerMethod, string>> = {
  sbp: 'sbp',
  cards: 'bank_card',
  tpay: 'tinkoff_bank',
  sberpay: 'sberbank',
};

/** The buyer's hour begins with the order: a pending payment is not cancelled there. */
const sessionTtl_min = 60;
const wireCard = ({ number, expiry, cvc, holder }: Card) => {
  const [month = '', year = ''] = expiry.split('/').map((part) => part.trim());
  const cardholder = /^[a-zA-Z '-]{1,26}$/.test(holder) ? { cardholder: holder } : {};
  return {
    card: {
      number: number.replaceAll(/\D/g, ''),
      expiry_month: month,
      expiry_year: `20${year}`,
      csc: cvc,
      ...cardholder,
    },
  };
};

const sessionBody = (order: SessionOrder) => ({
  amount: wireAmount(order.amount, order.currency),
  capture: !isVoided(order) && !order.holds,
  payment_method_data: {
    type: wireMethods[order.method],
    ...(order.card ? wireCard(order.card) : {}),
  },
  confirmation: { type: order.method === 'sbp' ? 'qr' : 'redirect', return_url: order.pageUrl },
  metadata: metadataOf(order, 'payment'),
  ...(order.save ? { save_payment_method: true } : {}),
  ...(order.receipt ? { receipt: wireReceipt(order.receipt, order.currency) } : {}),
});

/** An earlier order under our key was another one, such as of another card: that one stands. */
const isKeyUsed = ({ parameter }: ApiAnswer & { kind: 'rejected' }): boolean =>
  parameter?.toLowerCase() === 'idempotence-key';

const notOpened = (answer: ApiAnswer & { kind: 'rejected' }): SessionAnswer => {
  if (isKeyUsed(answer)) return unknown;
  if (!isAboutUs(answer)) return declinedOrder(answer);
  return answer.isCertain ? { kind: 'unaccepted', otherwise: declinedOrder(answer) } : unknown;
};

/**
 * Whether the order is so old that its hour there would end before the buyer's session here. A
 * card's order is never sent before the buyer continues.
 */
const isStale = (answer: ApiAnswer, { card, sessionUntil }: SessionOrder): boolean => {
  const payment = card === null ? readPayment(bodyOf(answer)) : null;
  const createdAt = payment?.created_at;
  if (!createdAt || (payment.status !== 'pending' && payment.status !== 'canceled')) return false;
  return Temporal.Instant.compare(createdAt.add({ minutes: sessionTtl_min }), sessionUntil) < 0;
};

const openSession = async (calls: PaymentCalls, order: SessionOrder): Promise<SessionAnswer> => {
  const refused = await calls.receiptRefusal(calls.shop, order.receipt, order.now);
  if (refused !== null) return unavailable(refused);
  const give = (key: string) => post(calls, '/payments', key, sessionBody(order));
  const first = await give(order.operationId);
  // An order that was created early and is too old by now is sent anew. The address of the old one
  // was not given out.
  const answer = isStale(first, order) ? await give(`${order.operationId}-2`) : first;
  if (answer.kind === 'unreached') return { kind: 'unaccepted', otherwise: unknown };
  if (answer.kind === 'rejected') return notOpened(answer);
  const payment = readPayment(bodyOf(answer));
  if (!payment) return unknown;
  if (!(await calls.checkEcho(order, payment))) return stopped;
  if (payment.status === 'canceled') return declined(payment);
  const { cardBrand, cardMask } = traitsOf(payment);
  const askAt = payment.status === 'pending' ? order.now.add({ seconds: askEvery_s }) : order.now;
  return {
    kind: 'opened',
    reference: payment.id,
    ...(stepOf(order.method, payment) ?? { step: 'wait', stepUrl: null }),
    traits: { cardBrand, cardMask },
    askAt,
  };
};

/** Nothing was sent: another bank may have the order. */
const noAccount = {
  kind: 'unaccepted',
  otherwise: { kind: 'declined', failureCode: 'method_unavailable', bankCode: 'no_account' },
} as const;

/** The part of the port that takes money. */
export const yooKassaPayments = (
  callerOf: (merchantId: string) => Promise<PaymentCaller>,
): Pick<Bank, 'openSession' | 'ask' | 'createsOrderEarly' | 'sessionTtl_min'> => ({
  // A card goes there with the order, so that its order waits for the buyer.
  createsOrderEarly: ['sbp', 'tpay', 'sberpay'],
  sessionTtl_min,
  openSession: async (order) => {
    const { accounts, ...caller } = await callerOf(order.merchantId);
    return accounts.current ? openSession({ ...caller, shop: accounts.current }, order) : noAccount;
  },
  ask: async (question) => {
    const { merchantId, reference } = question;
    if (reference !== null)
      return withHolder(callerOf, merchantId, reference, (calls) => askPayment(calls, question));
    const { accounts, ...caller } = await callerOf(merchantId);
    return askEach(accounts.all, 'unseen', (shop) => askPayment({ ...caller, shop }, question));
  },
});
