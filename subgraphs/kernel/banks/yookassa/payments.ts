/**
 * Payments at YooKassa: by SBP (a QR code), cards (the card goes straight there; 3-D Secure on its
 * page), T-Pay and SberPay (its page). Decisions D-32, D-33. A card that only proves itself is
 * authorised without being captured, and the authorisation is cancelled (decision D-66).
 */
import type { Bank, Card, PaymentQuestion, SessionAnswer, SessionOrder } from '../bank.ts';
import type { BankAnswer, FoundSession, PayerTraits } from '../bank-answer.ts';
import type { BankStep, BuyerMethod } from '../../rules/buyer.ts';
import type { ChargeAnswer } from '../token-bank.ts';
import { wireAmount } from './amount.ts';
import type { Account } from '../bank-accounts.ts';
import { askEach, holderOf, type Caller } from './accounts.ts';
import type { ApiAnswer, Client } from './client.ts';
import type { CheckEcho, Ordered } from './echo.ts';
import { paymentFailure, refusedOrder } from './failures.ts';
import { readPage, readPayment, type WirePayment } from './wire.ts';

export interface PaymentCalls {
  readonly client: Client;
  readonly shop: Account;
  readonly checkEcho: CheckEcho;
}

const wireMethods: Readonly<Record<BuyerMethod, string>> = {
  sbp: 'sbp',
  cards: 'bank_card',
  tpay: 'tinkoff_bank',
  sberpay: 'sberbank',
};

/**
 * The buyer's hour. It begins with the order, and cannot be ended: a pending payment is not
 * cancelled there.
 */
const sessionTtl_min = 60;
/** How often a payment that waits for its buyer is asked about; notifications come sooner. */
const askEvery_s = 15;
/** After this an order that is not in the bank's list never arrived. */
const arrivesWithin_s = 60;
/** How much of the list is read: within the minutes around an order. */
const pages_max = 100;

const unknown = { kind: 'unknown' } as const;

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

/** Our names of an operation, which the bank repeats. */
export const metadataOf = ({
  merchantId,
  operationId,
}: Pick<Ordered, 'merchantId' | 'operationId'>) => ({
  merchant_id: merchantId,
  operation_id: operationId,
  operation: 'payment',
});

/** Whether a payment proves a card, and is not to be captured. */
const isVoided = ({ save, method }: Pick<SessionOrder, 'save' | 'method'>): boolean =>
  save?.verification === true && method === 'cards';

const sessionBody = (order: SessionOrder) => ({
  amount: wireAmount(order.amount, order.currency),
  capture: !isVoided(order),
  payment_method_data: {
    type: wireMethods[order.method],
    ...(order.card ? wireCard(order.card) : {}),
  },
  confirmation: { type: order.method === 'sbp' ? 'qr' : 'redirect', return_url: order.pageUrl },
  metadata: metadataOf(order),
  ...(order.save ? { save_payment_method: true } : {}),
});

const stepOf = (
  order: SessionOrder,
  { confirmationUrl }: WirePayment,
): { readonly step: BankStep; readonly stepUrl: string | null } => {
  if (confirmationUrl === null) return { step: 'wait', stepUrl: null };
  switch (order.method) {
    case 'sbp':
      return { step: 'qr', stepUrl: confirmationUrl };
    case 'cards':
      return { step: 'three_d_secure', stepUrl: confirmationUrl };
    case 'tpay':
    case 'sberpay':
      return { step: 'redirect', stepUrl: confirmationUrl };
  }
};

const traitsOf = ({ cardBrand, cardLast4, payerBankId }: WirePayment): PayerTraits => ({
  cardBrand,
  cardMask: cardLast4 === null ? null : `**** **** **** ${cardLast4}`,
  cardHolder: null,
  phoneMask: null,
  payerBank: payerBankId,
});

/** 401 and 403 are about our own account, not about the buyer or the order. */
export const isAboutUs = ({ status }: ApiAnswer & { kind: 'refused' }): boolean =>
  status === 401 || status === 403;

/** An order that was surely not accepted, in the words of the contract. */
export const refusal = (
  answer: ApiAnswer & { kind: 'refused' },
): BankAnswer & { kind: 'declined' } => ({
  kind: 'declined',
  failureCode: isAboutUs(answer) ? 'method_unavailable' : refusedOrder(answer.parameter),
  bankCode: answer.code,
});

const declined = ({ cancellation }: WirePayment): BankAnswer & { kind: 'declined' } => ({
  kind: 'declined',
  failureCode: paymentFailure(cancellation),
  bankCode: cancellation.reason,
});

const approved = (payment: WirePayment): BankAnswer & { kind: 'approved' } => ({
  kind: 'approved',
  reference: payment.id,
  rrn: payment.rrn ?? payment.sbpOperationId,
  traits: traitsOf(payment),
  ...(payment.isSaved && payment.methodId !== null ? { savedReference: payment.methodId } : {}),
});

/** Where the buyer confirms, in an answer that finds an order again. */
const sessionOf = ({
  id: reference,
  confirmationType,
  confirmationUrl: stepUrl,
  methodType,
}: WirePayment): { readonly session?: FoundSession } => {
  if (stepUrl === null) return {};
  const redirected = methodType === 'bank_card' ? 'three_d_secure' : 'redirect';
  return { session: { reference, step: confirmationType === 'qr' ? 'qr' : redirected, stepUrl } };
};

/** It waits, and no job asks about it any more: an alert was raised. */
const stopped = { kind: 'pending', askAt: null } as const;

/**
 * Where a payment stands that was ordered so; `pending` without a next question when the bank tells
 * something else.
 */
export const standing = async (
  calls: PaymentCalls,
  ordered: Ordered,
  payment: WirePayment | null,
): Promise<ChargeAnswer> => {
  if (!payment) return unknown;
  if (!(await calls.checkEcho(ordered, payment))) return stopped;
  switch (payment.status) {
    case 'succeeded':
      return approved(payment);
    case 'canceled':
      return declined(payment);
    case 'pending':
    case 'waiting_for_capture':
      return {
        kind: 'pending',
        askAt: ordered.now.add({ seconds: askEvery_s }),
        ...sessionOf(payment),
      };
  }
};

const isOurVoid = ({ status, cancellation }: WirePayment): boolean =>
  status === 'canceled' && cancellation.reason === 'canceled_by_merchant';

/**
 * The card was authorised: the authorisation is given up, and the method is proved when that is
 * certain.
 */
const voidAuthorisation = async (
  calls: PaymentCalls,
  asked: PaymentQuestion,
  payment: WirePayment,
): Promise<BankAnswer> => {
  const answer = await calls.client.call({
    account: calls.shop,
    path: `/payments/${payment.id}/cancel`,
    post: { key: `${asked.operationId}-void`, body: {} },
  });
  const after = answer.kind === 'answered' ? readPayment(answer.body) : null;
  return after && isOurVoid(after) ? approved(after) : unknown;
};

const settle = async (
  calls: PaymentCalls,
  asked: PaymentQuestion,
  payment: WirePayment,
): Promise<BankAnswer> => {
  if (!asked.voided) return standing(calls, asked, payment);
  if (!(await calls.checkEcho(asked, payment))) return stopped;
  if (payment.status === 'waiting_for_capture') return voidAuthorisation(calls, asked, payment);
  return isOurVoid(payment) ? approved(payment) : standing(calls, asked, payment);
};

/** What a search came to. Null: the order is not there; `unknown`: the list could not be read. */
type Found = WirePayment | null | typeof unknown;

const searchBetween = async (
  { client, shop }: PaymentCalls,
  operationId: string,
  from: Temporal.Instant,
  until: Temporal.Instant,
): Promise<Found> => {
  const between = {
    'created_at.gte': from.toString(),
    'created_at.lte': until.toString(),
    limit: '100',
  };
  let cursor: string | null = null;
  for (let page = 0; page < pages_max; page++) {
    const answer: ApiAnswer = await client.call({
      account: shop,
      path: '/payments',
      query: cursor === null ? between : { ...between, cursor },
    });
    const read = answer.kind === 'answered' ? readPage(answer.body, readPayment) : null;
    if (!read) return unknown;
    const found = read.items.find((payment) => payment.operationId === operationId);
    if (found) return found;
    if (read.nextCursor === null) return null;
    cursor = read.nextCursor;
  }
  return unknown;
};

/**
 * Looks for an order whose answer was lost among the payments of the minutes in which it may have
 * been given: with the session, or before it, when it was registered.
 */
const search = async (
  calls: PaymentCalls,
  { operationId, registeredAt, orderedAt, lastOrderedAt }: PaymentQuestion,
): Promise<Found> => {
  const within = (first: Temporal.Instant, last: Temporal.Instant): Promise<Found> =>
    searchBetween(calls, operationId, first.subtract({ seconds: 30 }), last.add({ minutes: 2 }));
  return (
    (await within(orderedAt, lastOrderedAt)) ?? (registeredAt && within(registeredAt, registeredAt))
  );
};

/** An earlier order under our key was another one, such as of another card: that one stands. */
const isKeyUsed = ({ parameter }: ApiAnswer & { kind: 'refused' }): boolean =>
  parameter?.toLowerCase() === 'idempotence-key';

const notOpened = (answer: ApiAnswer & { kind: 'refused' }): SessionAnswer => {
  if (isKeyUsed(answer)) return unknown;
  if (!isAboutUs(answer)) return refusal(answer);
  return answer.isCertain ? { kind: 'unaccepted', otherwise: refusal(answer) } : unknown;
};

/**
 * Whether the order was given so long ago that its hour there would end before the buyer's session
 * here. A card's order is never given before the buyer goes on.
 */
const isStale = (answer: ApiAnswer, { card, sessionUntil }: SessionOrder): boolean => {
  const payment = answer.kind === 'answered' && card === null ? readPayment(answer.body) : null;
  if (!payment?.createdAt || (payment.status !== 'pending' && payment.status !== 'canceled'))
    return false;
  return (
    Temporal.Instant.compare(payment.createdAt.add({ minutes: sessionTtl_min }), sessionUntil) < 0
  );
};

const openSession = async (calls: PaymentCalls, order: SessionOrder): Promise<SessionAnswer> => {
  const post = (key: string) =>
    calls.client.call({
      account: calls.shop,
      path: '/payments',
      post: { key, body: sessionBody(order) },
    });
  const first = await post(order.operationId);
  // Registered with the payment, and too old by now: a new attempt. The old one has an address that
  // nobody knows.
  const answer = isStale(first, order) ? await post(`${order.operationId}-2`) : first;
  if (answer.kind === 'unreached') return { kind: 'unaccepted', otherwise: unknown };
  if (answer.kind === 'refused') return notOpened(answer);
  const payment = answer.kind === 'answered' ? readPayment(answer.body) : null;
  if (!payment) return unknown;
  if (!(await calls.checkEcho(order, payment))) return stopped;
  if (payment.status === 'canceled') return declined(payment);
  const { cardBrand, cardMask } = traitsOf(payment);
  const askAt = payment.status === 'pending' ? order.now.add({ seconds: askEvery_s }) : order.now;
  return {
    kind: 'opened',
    reference: payment.id,
    ...stepOf(order, payment),
    traits: { cardBrand, cardMask },
    askAt,
  };
};

const ask = async (calls: PaymentCalls, asked: PaymentQuestion): Promise<BankAnswer> => {
  if (asked.reference !== null) {
    const answer = await calls.client.call({
      account: calls.shop,
      path: `/payments/${asked.reference}`,
    });
    const payment = answer.kind === 'answered' ? readPayment(answer.body) : null;
    return payment ? settle(calls, asked, payment) : unknown;
  }
  const found = await search(calls, asked);
  if (found && 'kind' in found) return unknown;
  if (found) return settle(calls, asked, found);
  return Temporal.Instant.compare(
    asked.lastOrderedAt.add({ seconds: arrivesWithin_s }),
    asked.now,
  ) < 0
    ? { kind: 'unseen' }
    : unknown;
};

/** Whose shop serves a merchant, with what calls need beside. */
export type PaymentCaller = Caller & Pick<PaymentCalls, 'checkEcho'>;

/** Nothing was sent: another bank may have the order. */
const noAccount = {
  kind: 'unaccepted',
  otherwise: { kind: 'declined', failureCode: 'method_unavailable', bankCode: 'no_account' },
} as const;

/** The part of the port that takes money. */
export const yooKassaPayments = (
  callerOf: (merchantId: string) => Promise<PaymentCaller>,
): Pick<Bank, 'openSession' | 'ask' | 'registers' | 'sessionTtl_min'> => ({
  // A card goes there with the order, so that its order waits for the buyer.
  registers: ['sbp', 'tpay', 'sberpay'],
  sessionTtl_min,
  openSession: async (order) => {
    const { accounts, ...caller } = await callerOf(order.merchantId);
    return accounts.current ? openSession({ ...caller, shop: accounts.current }, order) : noAccount;
  },
  ask: async (question) => {
    const { accounts, ...caller } = await callerOf(question.merchantId);
    if (question.reference === null)
      return askEach(accounts.all, 'unseen', (shop) => ask({ ...caller, shop }, question));
    const shop = await holderOf({ ...caller, accounts }, `/payments/${question.reference}`);
    return shop ? ask({ ...caller, shop }, question) : unknown;
  },
});
