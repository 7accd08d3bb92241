/**
 * Repeats an order that its bank certainly has not seen, or whose answer was lost in a crash after
 * the move to `processing`. It is the same operation under the same key, so the bank makes one. The
 * buyer's next submit repeats it, with the card if one is needed; the sweep repeats orders that
 * need nothing of the buyer. It stays at the same bank, because an earlier order may still arrive
 * there.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Bank, Card, SessionAnswer } from '../../acquirers/bank.ts';
import type { Banks } from '../../acquirers/route.ts';
import type { Timeline } from '../../platform/clock/due.ts';
import type { Database } from '../../platform/database/orm.ts';
import { pageAddress, type PageDeps } from '../../platform/access/keys.ts';
import { eachAlone } from '../../platform/alerts/dead-letters.ts';
import type { PolicyLists } from '../../platform/policies/policies.ts';
import type { BuyerMethod } from '../../rules/banks.ts';
import { cardMistake, holderOf, holdsCardNumber } from '../../rules/card.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import { applyBankAnswer } from './apply-bank-answer.ts';
import { askBank, paymentAsks } from './ask-bank.ts';
import { changePayment } from '../change-payment.ts';
import type { Payment } from '../entities.ts';
import type { PaymentsDeps } from '../parts.ts';
import { buyerMethod, pageMethod } from '../rules/create.ts';
import {
  isTimeToOrder,
  order_max_s,
  orderState,
  patienceLeft_ms,
  type OrderState,
} from '../rules/order.ts';
import { recordSession, sessionOrder, type SessionRequest } from './orders.ts';
import { findPayment, subjectOfPayment, type PaymentKey, unpublished } from '../store-payment.ts';

/** How often the row is read while an order may still be under way. */
const look_ms = 200;

/** The mistake in the card of a payment; null if there is none, or no card is needed. */
export const cardFlaw = (
  bank: Bank,
  method: BuyerMethod,
  card: Card | null,
  now: Temporal.Instant,
): string | null => {
  if (method !== 'cards' || bank.cardsOn !== 'our_page') return null;
  if (!card) return 'card: required when paying by card';
  const isUnnamed = bank.asksHolder && holderOf(card) === null;
  // The holder is kept and shown to the merchant.
  if (holdsCardNumber(card.holder)) return 'card.holder: expected the name on the card';
  return cardMistake(card, now) ?? (isUnnamed ? 'card.holder: required by this bank' : null);
};

const notPending = ({ status }: Payment): Refusal =>
  refuse('not_pending', `the payment is ${status}`);

/** The payment once its last order is answered, or has had the time to be. */
const afterLastOrder = async (
  { pool }: Database,
  key: PaymentKey,
  now: Temporal.Instant,
): Promise<Payment | Refusal> => {
  const begun_ms = performance.now();
  for (;;) {
    const found = await findPayment(pool, key, now);
    if (!found) return refuse('not_found', 'there is no such payment');
    const { payment } = found;
    const isAwaited =
      orderState(payment) === 'unanswered' &&
      performance.now() - begun_ms < patienceLeft_ms(payment.orderedAt, now);
    if (!isAwaited) return payment;
    await delay(look_ms);
  }
};

interface Again {
  readonly bank: Bank;
  readonly method: BuyerMethod;
  /** Where the order stood when it was decided to give it again. */
  readonly state: OrderState;
  readonly request: SessionRequest;
}

/** Takes the order in hand before the bank is called, unless the payment was written since. */
const claim = (
  database: Database,
  before: Payment,
  { bank, state, request }: Again,
): Promise<Payment | Refusal> =>
  changePayment(database, request.key, request.now, ({ payment }) => {
    const { now, card } = request;
    if (payment.version !== before.version) return notPending(payment);
    const askAt = now.add({ seconds: order_max_s });
    // Without an answer the first card may be the one that the bank has.
    const holder =
      bank.cardsOn === 'our_page' && state === 'absent'
        ? { customerCardHolder: holderOf(card) }
        : {};
    return unpublished({ ...holder, step: 'wait', askAt, orderedAt: now });
  });

/**
 * The meaning of an answer for all orders together: a refusal now may follow an earlier acceptance.
 */
const together = (
  state: OrderState,
  answer: SessionAnswer,
): Exclude<SessionAnswer, { kind: 'unaccepted' }> | { kind: 'unseen' } => {
  const isFirst = state === 'absent';
  switch (answer.kind) {
    case 'unaccepted':
      return isFirst ? { kind: 'unseen' } : { kind: 'unknown' };
    case 'declined':
      return isFirst ? answer : { kind: 'unknown' };
    case 'opened':
    case 'pending':
    case 'unknown':
      return answer;
  }
};

const giveOrder = async (
  database: Database,
  before: Payment,
  again: Again,
): Promise<Payment | Refusal> => {
  const { bank, method, state, request } = again;
  const { key, pageUrl, now } = request;
  const claimed = await claim(database, before, again);
  if (isRefusal(claimed)) return claimed;
  const card = bank.cardsOn === 'our_page' ? request.card : null;
  const answer = together(
    state,
    await bank.openSession(sessionOrder(claimed, { method, card, pageUrl, now })),
  );
  if (answer.kind === 'opened') return recordSession(database, key, answer, now);
  return applyBankAnswer(database, { ...key, order: now }, bank.connector, answer, now);
};

/** The bank that has the payment, and the method there; refuses when no order may be given. */
const servedBy = async (
  banks: Banks,
  payment: Payment,
  now: Temporal.Instant,
): Promise<Pick<Again, 'bank' | 'method'> | Refusal> => {
  const method = buyerMethod(pageMethod(payment));
  if (!method) return notPending(payment);
  if (!isTimeToOrder(payment.processingUntil, now))
    return refuse('not_pending', 'the session is about to end');
  const bank = banks.bankOf(payment);
  const liveMode = await banks.liveModeRefusal(payment);
  if (isRefusal(bank)) return bank;
  if (liveMode) return liveMode;
  return { bank, method };
};

/**
 * The buyer presses again. Waits a moment for an order that is under way. Refuses with
 * `not_pending` when the bank has the order or the session is about to end, `bad_request` (the
 * card), `aml_blocked` and `live_not_enabled`.
 */
export const orderAgain = async (
  database: Database,
  banks: Banks,
  policies: PolicyLists,
  request: SessionRequest,
): Promise<Payment | Refusal> => {
  const { key, card, now } = request;
  const payment = await afterLastOrder(database, key, now);
  if (isRefusal(payment)) return payment;
  const state = orderState(payment);
  if (state === null || state === 'standing') return notPending(payment);
  const served = await servedBy(banks, payment, now);
  if (isRefusal(served)) return served;
  const flaw = cardFlaw(served.bank, served.method, card, now);
  if (flaw) return refuse('bad_request', flaw);
  if (card && policies.isBlocked(payment.merchantId, 'card', card.number))
    return refuse('aml_blocked', 'this card is not accepted');
  return giveOrder(database, payment, { ...served, state, request });
};

/** What the background needs to give an order again. */
export type OrderingDeps = PageDeps & Pick<PaymentsDeps, 'database' | 'banks'>;

/**
 * Asks the bank about a payment, and gives its order again when the bank has not seen it and
 * nothing is needed of the buyer; the payment as it is afterwards. An order that waits for a card
 * stays so.
 */
export const askOrOrder = async (
  { database, banks, ...page }: OrderingDeps,
  key: PaymentKey,
  now: Temporal.Instant,
): Promise<Payment | Refusal> => {
  const payment = await askBank(database, banks, key, now);
  if (isRefusal(payment) || orderState(payment) !== 'absent') return payment;
  const served = await servedBy(banks, payment, now);
  if (isRefusal(served) || cardFlaw(served.bank, served.method, null, now)) return payment;
  const request = { key, card: null, pageUrl: pageAddress(page, key), now };
  return giveOrder(database, payment, { ...served, state: 'absent', request });
};

const sweep_max = 500;
const questionsAtOnce = 32;

/**
 * Queries due payments or repeats their orders, the longest due first; returns their number.
 * Rejects at the end with all failures.
 */
export const askDue = async (
  ordering: OrderingDeps,
  clock: () => Temporal.Instant,
  timeline: Timeline = null,
): Promise<number> => {
  const { database } = ordering;
  const due = await paymentAsks.dueByTurns(database.pool, timeline, clock(), sweep_max);
  const work = (key: PaymentKey) => askOrOrder(ordering, key, clock());
  await eachAlone(
    database.pool,
    { task: paymentAsks.task, limit: questionsAtOnce, subjectOf: subjectOfPayment },
    due,
    work,
  );
  return due.length;
};
