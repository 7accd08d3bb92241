/**
 * Payments at T-Bank: by SBP (a QR code), T-Pay (its link) and cards (its own payment page: a
 * card's number never reaches us). `Init` moves no money and is not idempotent: an order whose
 * answer was lost is sent again, and a payment whose address was not given out cannot be paid. The
 * result of an order is queried by our own id, with `CheckOrder`, which returns all of its
 * payments.
 */
import { bodyOf, isVoided, stopped, unavailable, unknown, unseenAfter } from '../bank-http.ts';
import type { Bank, SessionAnswer, SessionOrder, PaymentQuestion, BankAnswer } from '../bank.ts';
import {
  declinedBy,
  declinedPayment,
  readPayment,
  meaningOf,
  readCards,
  type WirePayment,
} from './wire.ts';
import {
  askEvery_s,
  isOrdered,
  noTraits,
  stepOf,
  type PaymentCalls,
  decidingPayment,
  paymentsOf,
} from './orders.ts';
import { receiptOf, refusalOf } from './receipts.ts';
import type { BuyerMethod } from '../../rules/banks.ts';
import { holdEnd } from './holds.ts';

/*
 * The result of an order at T-Bank, and its end. An order whose answer was lost is found by our own
 * id.
 */

const brands: Readonly<Record<string, string>> = {
  '2': 'Mir',
  '4': 'Visa',
  '5': 'MasterCard',
  '6': 'UnionPay',
};

/**
 * The approval; with the saved card, where the operation was to save one. Without an answer on that
 * it is unknown: a binding needs its card.
 */
const approved = async (
  { client }: PaymentCalls,
  { saves }: PaymentQuestion,
  { id, orderId, rrn, sbpId }: WirePayment,
): Promise<BankAnswer> => {
  const base = { kind: 'approved', reference: id, rrn: rrn ?? sbpId, traits: noTraits } as const;
  if (!saves) return base;
  const answer = await client.call('GetCardList', { CustomerKey: orderId });
  const cards = readCards(bodyOf(answer));
  if (!cards) return unknown;
  const [card] = cards;
  if (!card) return base;
  const traits = {
    ...noTraits,
    cardBrand: brands[card.Pan[0] ?? ''] ?? null,
    cardMask: `**** **** **** ${card.Pan.slice(-4)}`,
  };
  return { ...base, traits, savedReference: card.RebillId };
};

/**
 * The card was authorised: the authorisation is voided, and the card is verified when that is
 * certain. A second void is refused.
 */
const voidAuthorisation = async (
  calls: PaymentCalls,
  asked: PaymentQuestion,
  payment: WirePayment,
): Promise<BankAnswer> => {
  const params = { PaymentId: payment.id, ExternalRequestId: `${payment.orderId}-void` };
  const answer = await calls.client.call('Cancel', params);
  const after = readPayment(bodyOf(answer));
  return after && meaningOf(after.status) === 'given_up'
    ? approved(calls, asked, payment)
    : unknown;
};

/** The bank holds the money; it reports no end of the hold. */
const held = (
  { hold_d }: PaymentCalls,
  { orderedAt }: PaymentQuestion,
  { id, rrn, sbpId }: WirePayment,
): BankAnswer => ({
  kind: 'authorized',
  captureBefore: holdEnd(orderedAt, hold_d),
  reference: id,
  rrn: rrn ?? sbpId,
  traits: noTraits,
});

const settle = async (
  calls: PaymentCalls,
  asked: PaymentQuestion,
  payment: WirePayment,
): Promise<BankAnswer> => {
  if (!(await isOrdered(calls, asked, payment))) return stopped;
  const waiting = { kind: 'pending', askAt: asked.now.add({ seconds: askEvery_s }) } as const;
  switch (meaningOf(payment.status)) {
    case 'paid':
      return approved(calls, asked, payment);
    case 'held':
      if (asked.holds) return held(calls, asked, payment);
      return asked.voided ? voidAuthorisation(calls, asked, payment) : waiting;
    case 'given_up':
      if (asked.holds) return { kind: 'released' };
      return asked.voided
        ? approved(calls, asked, payment)
        : { kind: 'declined', failureCode: 'generic_decline', bankCode: payment.status };
    case 'open':
      return waiting;
    case 'failed':
      return declinedPayment(payment);
  }
};

/**
 * Whether no address of an order's payments was given out, and no charge has begun: then nothing
 * will happen by itself.
 */
const isUntouched = (
  { reference, awaitsStep }: PaymentQuestion,
  payments: readonly WirePayment[],
): boolean =>
  (reference === null || awaitsStep) && payments.every(({ status }) => status === 'NEW');

/** Where the buyer of a lost order continues. Null: the bank does not repeat it, as with cards. */
const sessionOf = async (
  calls: PaymentCalls,
  asked: PaymentQuestion,
  method: BuyerMethod,
  payment: WirePayment,
): Promise<BankAnswer | null> => {
  if (!(await isOrdered(calls, asked, payment))) return stopped;
  const step = await stepOf(calls, method, payment, null);
  return (
    step && {
      kind: 'pending',
      askAt: asked.now.add({ seconds: askEvery_s }),
      session: { reference: payment.id, ...step },
    }
  );
};

/** Asks what became of an order. */
const askPayment = async (calls: PaymentCalls, asked: PaymentQuestion): Promise<BankAnswer> => {
  const payments = await paymentsOf(calls, asked.operationId);
  if (!payments) return unknown;
  const payment = decidingPayment(payments);
  if (payment && !isUntouched(asked, payments)) return settle(calls, asked, payment);
  const found =
    payment && asked.method ? await sessionOf(calls, asked, asked.method, payment) : null;
  if (found) return found;
  return unseenAfter(asked);
};

/**
 * Ends an order's payments that are still unpaid. `Cancel` refunds money that arrived in between:
 * then the payment is reported as paid, and its refund finds that all of it was returned.
 */
const cancelOrder = async (calls: PaymentCalls, asked: PaymentQuestion): Promise<BankAnswer> => {
  const payments = await paymentsOf(calls, asked.operationId);
  const payment = payments && decidingPayment(payments);
  if (!payments || !payment || meaningOf(payment.status) !== 'open')
    return askPayment(calls, asked);
  if (!(await isOrdered(calls, asked, payment))) return stopped;
  const unpaid = payments.filter(({ status }) => status === 'NEW');
  for (const { id } of unpaid) await calls.client.call('Cancel', { PaymentId: id });
  const after = decidingPayment((await paymentsOf(calls, asked.operationId)) ?? []);
  return after ? settle(calls, asked, after) : unknown;
};

/** The shortest life of a payment's address, and the longest: it ends at the order's time. */
const addressLife_s = 61;
const sessionTtl_min = 90 * 24 * 60;

/** Bank time, which it reads with an offset. */
const dueDate = (order: SessionOrder): string => {
  const earliest = order.now.add({ seconds: addressLife_s });
  const wanted = order.payableUntil ?? order.sessionUntil;
  const until = Temporal.Instant.compare(wanted, earliest) < 0 ? earliest : wanted;
  return until.round('second').toString().replace('Z', '+00:00');
};

const initParams = (order: SessionOrder, { callbackUrl, register }: PaymentCalls) => ({
  Amount: Number(order.amount),
  OrderId: order.operationId,
  PayType: isVoided(order) || order.holds ? 'T' : 'O',
  NotificationURL: callbackUrl(order.merchantId),
  SuccessURL: order.pageUrl,
  FailURL: order.pageUrl,
  RedirectDueDate: dueDate(order),
  // A separate customer for each operation: its card is the one that the operation saved.
  ...(order.save ? { Recurrent: 'Y', CustomerKey: order.operationId } : {}),
  ...receiptOf(order.receipt, register),
});

const opened = (
  order: SessionOrder,
  reference: string,
  step: Pick<SessionAnswer & { kind: 'opened' }, 'step' | 'stepUrl'>,
): SessionAnswer => ({
  kind: 'opened',
  reference,
  ...step,
  traits: noTraits,
  askAt: order.now.add({ seconds: askEvery_s }),
});

const openSession = async (calls: PaymentCalls, order: SessionOrder): Promise<SessionAnswer> => {
  if (order.currency !== 'RUB') return unavailable('currency');
  const refused = refusalOf(order.receipt, calls.register);
  if (refused !== null) return unavailable(refused);
  if (order.reference !== null) {
    const early = await stepOf(calls, order.method, { id: order.reference }, null);
    if (early) return opened(order, order.reference, early);
  }
  // No order was created early, or its address is no longer available: it cannot be paid.
  const answer = await calls.client.call('Init', initParams(order, calls));
  if (answer.kind === 'unaccepted') return { kind: 'unaccepted', otherwise: unknown };
  if (answer.kind === 'rejected') return declinedBy(answer.code);
  const payment = readPayment(bodyOf(answer));
  if (answer.kind !== 'answered' || !payment) return unknown;
  if (!(await isOrdered(calls, order, payment))) return stopped;
  if (order.payableUntil) return opened(order, payment.id, { step: 'wait', stepUrl: null });
  const step = await stepOf(calls, order.method, payment, answer.body);
  // Without an address it cannot be paid; a query of the order finds what was made.
  return step ? opened(order, payment.id, step) : unknown;
};

/** The part of the port that takes money from a buyer. */
export const tbankPayments = (
  calls: PaymentCalls,
): Pick<Bank, 'openSession' | 'ask' | 'cancelOrder' | 'createsOrderEarly' | 'sessionTtl_min'> => ({
  // The address of its page for cards is given once, with the order, so that order waits for the
  // buyer.
  createsOrderEarly: ['sbp', 'tpay'],
  sessionTtl_min,
  openSession: (order) => openSession(calls, order),
  ask: (question) => askPayment(calls, question),
  cancelOrder: (question) => cancelOrder(calls, question),
});
