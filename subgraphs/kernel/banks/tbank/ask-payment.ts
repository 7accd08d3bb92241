/**
 * The result of an order at T-Bank, and its end. An order whose answer was lost is found by our own
 * id.
 */
import type { PaymentQuestion } from '../bank.ts';
import type { BankAnswer, PayerTraits } from '../bank-answer.ts';
import type { BuyerMethod } from '../../rules/buyer.ts';
import { paymentFailure } from './failures.ts';
import { holdEnd } from './holds.ts';
import {
  askEvery_s,
  decidingPayment,
  isOrdered,
  paymentsOf,
  stepOf,
  stopped,
  unknown,
  type PaymentCalls,
} from './orders.ts';
import { meaningOf, readCards, readPayment, type WirePayment } from './wire.ts';

/** After this an order unknown to the bank never arrived. */
const arrivesWithin_s = 60;

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
 * The card was authorised: the authorisation is voided, and the card is verified when that is
 * certain. A second void is refused.
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
      return {
        kind: 'declined',
        failureCode: paymentFailure(payment),
        bankCode: payment.errorCode === '0' ? payment.status : payment.errorCode,
      };
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

/**
 * Where the buyer continues, for an order whose answer was lost. Null: the bank does not repeat it,
 * as with cards.
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

/** Asks what became of an order. */
export const askPayment = async (
  calls: PaymentCalls,
  asked: PaymentQuestion,
): Promise<BankAnswer> => {
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
 * Ends an order's payments that are still unpaid. `Cancel` refunds money that arrived in between:
 * then the payment is reported as paid, and its refund finds that all of it was returned.
 */
export const cancelOrder = async (
  calls: PaymentCalls,
  asked: PaymentQuestion,
): Promise<BankAnswer> => {
  const payments = await paymentsOf(calls, asked.operationId);
  const payment = payments && decidingPayment(payments);
  if (!payments || !payment || meaningOf(payment.status) !== 'open')
    return askPayment(calls, asked);
  if (!(await isOrdered(calls, asked, payment))) return stopped;
  const unpaid = payments.filter(({ status }) => status === 'NEW');
  for (const { id } of unpaid)
    await calls.client.call({ method: 'Cancel', params: { PaymentId: id }, repeatable: true });
  const after = decidingPayment((await paymentsOf(calls, asked.operationId)) ?? []);
  return after ? settle(calls, asked, after) : unknown;
};
