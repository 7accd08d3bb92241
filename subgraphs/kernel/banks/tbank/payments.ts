/**
 * Payments at T-Bank: by SBP (a QR code), T-Pay (its link) and cards (its own payment page: a
 * card's number never comes to us). Decisions D-32, D-33. `Init` moves no money and is not
 * idempotent: an order whose answer was lost is given again, and what nobody got an address of can
 * be paid by nobody. What became of an order is asked by our own id, with `CheckOrder`, which gives
 * of all that was made for it.
 */
import type { Bank, PaymentQuestion, SessionAnswer, SessionOrder } from '../bank.ts';
import type { BankAnswer, PayerTraits } from '../bank-answer.ts';
import type { BuyerMethod } from '../../rules/buyer.ts';
import type { CheckEcho, Ordered } from '../check-echo.ts';
import type { ApiAnswer, Client } from './client.ts';
import { failureOf, paymentFailure } from './failures.ts';
import {
  isSameAmount,
  meaningOf,
  readCards,
  readLink,
  readOrder,
  readPayment,
  readPaymentUrl,
  readQr,
  type WirePayment,
} from './wire.ts';

export interface PaymentCalls {
  readonly client: Client;
  readonly checkEcho: CheckEcho;
  /** The address for the bank's notifications of a merchant's payments. */
  readonly callbackUrl: (merchantId: string) => string;
}

/** How often a payment that waits for its buyer is asked about; notifications come sooner. */
const askEvery_s = 15;
/** After this an order that the bank does not know never arrived. */
const arrivesWithin_s = 60;
/** The shortest life of a payment's address, and the longest: it ends when the order says. */
const addressLife_s = 61;
const sessionTtl_min = 90 * 24 * 60;

const unknown = { kind: 'unknown' } as const;
/** It waits, and no job asks about it any more: an alert was raised. */
const stopped = { kind: 'pending', askAt: null } as const;

/** Whether a payment of an order is the one that was ordered. */
export const isOrdered = (
  { checkEcho }: Pick<PaymentCalls, 'checkEcho'>,
  ordered: Ordered,
  { id, orderId, amount }: WirePayment,
): Promise<boolean> =>
  checkEcho(ordered, {
    id,
    operationId: orderId,
    amount: amount === null ? 'no amount' : `${amount} kopecks`,
    isSame: isSameAmount(amount, ordered.amount, ordered.currency),
  });

/**
 * Which of an order's payments decides what became of it: one with money, else one that may still
 * have some, else the last.
 */
export const decidingPayment = (payments: readonly WirePayment[]): WirePayment | undefined => {
  const rank = { paid: 0, held: 1, given_up: 2, open: 3, failed: 4 } as const;
  return payments.toSorted(
    (one, other) =>
      rank[meaningOf(one.status)] - rank[meaningOf(other.status)] ||
      Number(other.id) - Number(one.id),
  )[0];
};

/**
 * The payments of an operation; null when they cannot be read. An order that is not known has none.
 */
export const paymentsOf = async (
  { client }: Pick<PaymentCalls, 'client'>,
  operationId: string,
): Promise<readonly WirePayment[] | null> => {
  const answer = await client.call({
    method: 'CheckOrder',
    params: { OrderId: operationId },
    repeatable: true,
  });
  // 255: there is no such order.
  if (answer.kind === 'refused' && answer.code === '255') return [];
  return answer.kind === 'answered' ? readOrder(answer.body) : null;
};

/** Whether a payment proves a card, and is only to be authorised. */
const isVoided = ({ save, method }: Pick<SessionOrder, 'save' | 'method'>): boolean =>
  save?.verification === true && method === 'cards';

/** Bank time, which it reads with an offset. */
const dueDate = (order: SessionOrder): string => {
  const earliest = order.now.add({ seconds: addressLife_s });
  const wanted = order.registeredUntil ?? order.sessionUntil;
  const until = Temporal.Instant.compare(wanted, earliest) < 0 ? earliest : wanted;
  return until.round('second').toString().replace('Z', '+00:00');
};

const initParams = (order: SessionOrder, { callbackUrl }: PaymentCalls) => ({
  Amount: Number(order.amount),
  OrderId: order.operationId,
  PayType: isVoided(order) ? 'T' : 'O',
  NotificationURL: callbackUrl(order.merchantId),
  SuccessURL: order.pageUrl,
  FailURL: order.pageUrl,
  RedirectDueDate: dueDate(order),
  // A customer of its own for each operation: its card is the one that was saved by it.
  ...(order.save ? { Recurrent: 'Y', CustomerKey: order.operationId } : {}),
});

/** Where the buyer pays; null when the bank does not say. */
const stepOf = async (
  { client }: PaymentCalls,
  method: BuyerMethod,
  { id }: Pick<WirePayment, 'id'>,
  init: unknown,
) => {
  const readable = (answer: ApiAnswer): unknown =>
    answer.kind === 'answered' ? answer.body : null;
  switch (method) {
    case 'sbp': {
      const url = readQr(
        readable(
          await client.call({
            method: 'GetQr',
            params: { PaymentId: id, DataType: 'PAYLOAD' },
            repeatable: true,
          }),
        ),
      );
      return url === null ? null : { step: 'qr' as const, stepUrl: url };
    }
    case 'tpay': {
      const url = readLink(
        readable(await client.read(`/TinkoffPay/transactions/${id}/versions/2.0/link`)),
      );
      return url === null ? null : { step: 'redirect' as const, stepUrl: url };
    }
    case 'cards': {
      const url = readPaymentUrl(init);
      return url === null ? null : { step: 'redirect' as const, stepUrl: url };
    }
    case 'sberpay':
      return null;
  }
};

const declinedBy = (code: string) =>
  ({ kind: 'declined', failureCode: failureOf(code), bankCode: code }) as const;

const opened = (
  order: SessionOrder,
  reference: string,
  step: Pick<SessionAnswer & { kind: 'opened' }, 'step' | 'stepUrl'>,
): SessionAnswer => {
  const traits = { cardBrand: null, cardMask: null };
  return {
    kind: 'opened',
    reference,
    ...step,
    traits,
    askAt: order.now.add({ seconds: askEvery_s }),
  };
};

const openSession = async (calls: PaymentCalls, order: SessionOrder): Promise<SessionAnswer> => {
  if (order.currency !== 'RUB')
    return { kind: 'declined', failureCode: 'method_unavailable', bankCode: 'currency' };
  const registered =
    order.reference === null
      ? null
      : await stepOf(calls, order.method, { id: order.reference }, null);
  if (order.reference !== null && registered) return opened(order, order.reference, registered);
  // None was registered, or its address is not given any more: then nobody knows its
  // address.
  const answer = await calls.client.call({
    method: 'Init',
    params: initParams(order, calls),
    repeatable: true,
  });
  if (answer.kind === 'unaccepted') return { kind: 'unaccepted', otherwise: unknown };
  if (answer.kind === 'refused') return declinedBy(answer.code);
  const payment = answer.kind === 'answered' ? readPayment(answer.body) : null;
  if (answer.kind !== 'answered' || !payment) return unknown;
  if (!(await isOrdered(calls, order, payment))) return stopped;
  if (order.registeredUntil) return opened(order, payment.id, { step: 'wait', stepUrl: null });
  const step = await stepOf(calls, order.method, payment, answer.body);
  // Without an address nobody can pay; what was made is found by its order when it is asked about.
  return step ? opened(order, payment.id, step) : unknown;
};

const noTraits: PayerTraits = {
  cardBrand: null,
  cardMask: null,
  cardHolder: null,
  phoneMask: null,
  payerBank: null,
};

const brands: Readonly<Record<string, string>> = {
  '2': 'Mir',
  '4': 'Visa',
  '5': 'MasterCard',
  '6': 'UnionPay',
};

/**
 * The approval; with the card that was saved, where the operation was to save one. Without an
 * answer on that it is unknown: a binding without its card is none.
 */
const approved = async (
  { client }: PaymentCalls,
  { saves }: PaymentQuestion,
  { id, orderId, rrn, sbpId }: WirePayment,
): Promise<BankAnswer> => {
  const base = { kind: 'approved', reference: id, rrn: rrn ?? sbpId, traits: noTraits } as const;
  if (!saves) return base;
  const answer = await client.call({
    method: 'GetCardList',
    params: { CustomerKey: orderId },
    repeatable: true,
  });
  const cards = answer.kind === 'answered' ? readCards(answer.body) : null;
  if (!cards) return unknown;
  const [card] = cards;
  if (!card) return base;
  const traits = {
    ...noTraits,
    cardBrand: brands[card.pan[0] ?? ''] ?? null,
    cardMask: `**** **** **** ${card.pan.slice(-4)}`,
  };
  return { ...base, traits, savedReference: card.rebillId };
};

/**
 * The card was authorised: the authorisation is given up, and the card is proved when that is
 * certain. Giving up what was given up is refused.
 */
const voidAuthorisation = async (
  calls: PaymentCalls,
  asked: PaymentQuestion,
  payment: WirePayment,
): Promise<BankAnswer> => {
  const params = { PaymentId: payment.id, ExternalRequestId: `${payment.orderId}-void` };
  const answer = await calls.client.call({ method: 'Cancel', params, repeatable: true });
  const after = answer.kind === 'answered' ? readPayment(answer.body) : null;
  return after && meaningOf(after.status) === 'given_up'
    ? approved(calls, asked, payment)
    : unknown;
};

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
      return asked.voided ? voidAuthorisation(calls, asked, payment) : waiting;
    case 'given_up':
      return asked.voided
        ? approved(calls, asked, payment)
        : { kind: 'declined', failureCode: 'generic_decline', bankCode: payment.status };
    case 'open':
      return waiting;
    case 'failed':
      return {
        kind: 'declined',
        failureCode: paymentFailure(payment),
        bankCode: payment.errorCode === '0' ? payment.status : payment.errorCode,
      };
  }
};

/**
 * Whether nobody has got the address of anything that was made for an order, and nobody has begun
 * to charge it: nothing will come of it by itself.
 */
const isUntouched = (
  { reference, awaitsStep }: PaymentQuestion,
  payments: readonly WirePayment[],
): boolean =>
  (reference === null || awaitsStep) && payments.every(({ status }) => status === 'NEW');

/**
 * Where the buyer goes on, for an order whose answer was lost. Null: the bank does not give it
 * again, as it is with cards.
 */
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

const ask = async (calls: PaymentCalls, asked: PaymentQuestion): Promise<BankAnswer> => {
  const payments = await paymentsOf(calls, asked.operationId);
  if (!payments) return unknown;
  const payment = decidingPayment(payments);
  if (payment && !isUntouched(asked, payments)) return settle(calls, asked, payment);
  const found =
    payment && asked.method ? await sessionOf(calls, asked, asked.method, payment) : null;
  if (found) return found;
  return Temporal.Instant.compare(
    asked.lastOrderedAt.add({ seconds: arrivesWithin_s }),
    asked.now,
  ) < 0
    ? { kind: 'unseen' }
    : unknown;
};

/**
 * Ends what was made for an order, as far as nobody has begun to pay it. `Cancel` gives money back
 * that came in between: then the payment is reported as paid, and its refund finds that all of it
 * went back.
 */
const cancelOrder = async (calls: PaymentCalls, asked: PaymentQuestion): Promise<BankAnswer> => {
  const payments = await paymentsOf(calls, asked.operationId);
  const payment = payments && decidingPayment(payments);
  if (!payments || !payment || meaningOf(payment.status) !== 'open') return ask(calls, asked);
  if (!(await isOrdered(calls, asked, payment))) return stopped;
  const unpaid = payments.filter(({ status }) => status === 'NEW');
  for (const { id } of unpaid)
    await calls.client.call({ method: 'Cancel', params: { PaymentId: id }, repeatable: true });
  const after = decidingPayment((await paymentsOf(calls, asked.operationId)) ?? []);
  return after ? settle(calls, asked, after) : unknown;
};

/** The part of the port that takes money from a buyer. */
export const tbankPayments = (
  calls: PaymentCalls,
): Pick<Bank, 'openSession' | 'ask' | 'cancelOrder' | 'registers' | 'sessionTtl_min'> => ({
  // The address of its page for cards is given once, with the order, so that their order waits for
  // the buyer.
  registers: ['sbp', 'tpay'],
  sessionTtl_min,
  openSession: (order) => openSession(calls, order),
  ask: (question) => ask(calls, question),
  cancelOrder: (question) => cancelOrder(calls, question),
});
