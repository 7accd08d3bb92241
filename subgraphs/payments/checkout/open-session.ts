/**
 * The buyer continues to the bank: opens the bank session, pending to processing. The move is
 * written before the bank is called, so a crash in between leaves a payment that is queried, never
 * one that can be paid unnoticed. The card goes directly to the bank and is stored nowhere.
 */
import type { Bank, Card, SessionOrder } from '../../acquirers/bank.ts';
import type { Banks, Candidates } from '../../acquirers/route.ts';
import type { Database } from '../../platform/database/orm.ts';
import type { BuyerMethod } from '../../rules/banks.ts';
import { holderOf } from '../../rules/card.ts';
import type { PolicyLists } from '../../platform/policies/policies.ts';
import { isBinding } from '../../rules/recurring.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import { applyBankAnswer } from '../bank-answers/apply-bank-answer.ts';
import { changePayment, type Decision, statusChange } from '../change-payment.ts';
import type { Payment } from '../entities.ts';
import { cardFlaw, orderAgain } from '../bank-answers/order-again.ts';
import { buyerMethod, pageMethod } from '../rules/create.ts';
import { isLastOrder, order_max_s } from '../rules/order.ts';
import { paymentMove, sessionEnd } from '../rules/payment.ts';
import { recordSession, sessionOrder, type SessionRequest } from '../bank-answers/orders.ts';
import { findPayment, type RatedPayment, type PaymentKey, unpublished } from '../store-payment.ts';

const servedBy = (
  { bankName, connector, sessionTtl_min }: Bank,
  { expiresAt }: Payment,
  now: Temporal.Instant,
) => ({ bankName, connector, processingUntil: sessionEnd(now, expiresAt, sessionTtl_min) });

/** The payment as it was read, and who is to serve it how. */
interface Beginning {
  readonly known: RatedPayment;
  readonly bank: Bank;
  readonly method: BuyerMethod;
}

const begin = (
  database: Database,
  { known, bank, method }: Beginning,
  { key, card, now }: SessionRequest,
): Promise<Payment | Refusal> => {
  const decide = ({ payment }: RatedPayment): Decision => {
    const status = paymentMove(payment.status, 'session_opened');
    if (!status) return refuse('not_pending', `the payment is ${payment.status}`);
    if (Temporal.Instant.compare(payment.expiresAt, now) <= 0)
      return refuse('not_pending', 'the payment link has expired');
    if (pageMethod(payment) !== method)
      return refuse('bad_request', `the method of this payment is ${payment.method}`);
    const flaw = cardFlaw(bank, method, card, now);
    if (flaw) return refuse('bad_request', flaw);
    const askAt = now.add({ seconds: order_max_s });
    const moved =
      payment.bankRef !== null && payment.connector !== bank.connector ? unregistered(payment) : {};
    // Banks do not repeat the holder, and their word that the buyer has paid may come before the
    // answer that is recorded.
    const customerCardHolder = bank.cardsOn === 'our_page' ? holderOf(card) : null;
    return statusChange(now, {
      ...moved,
      ...servedBy(bank, payment, now),
      status,
      step: 'wait',
      askAt,
      orderedAt: now,
      customerCardHolder,
    });
  };
  return changePayment(database, key, now, decide, { known });
};

/**
 * Another bank takes over from the one that had the early order: its reference is dropped, since no
 * buyer got its address.
 */
const unregistered = ({ metadata }: Payment) => ({
  bankRef: null,
  metadata: Object.fromEntries(Object.entries(metadata).filter(([name]) => name !== 'bank_ref')),
});

/**
 * The next bank takes the place of one that surely did not accept the order. Written before it is
 * called, as the first one is; a payment that ended meanwhile stays.
 */
const passOn = (
  database: Database,
  key: PaymentKey,
  from: Bank,
  to: Bank,
  { askAt, now }: { askAt: Temporal.Instant; now: Temporal.Instant },
) =>
  changePayment(database, key, now, ({ payment }) => {
    const isStill = payment.connector === from.connector && isLastOrder(payment.orderedAt, now);
    if (
      payment.status !== 'processing' ||
      !isStill ||
      payment.stepUrl !== null ||
      payment.capturedAt !== null
    )
      return refuse('not_pending', 'the session has ended or was replaced');
    const moved = { ...servedBy(to, payment, now), ...unregistered(payment) };
    return unpublished({ ...moved, askAt, orderedAt: now });
  });

/**
 * Orders the session at the bank that the row names, and at the next one only if that bank
 * certainly did not accept it. An order with an unknown result stays where it is. Returns the last
 * answer and its bank.
 */
const orderSession = async (
  database: Database,
  key: PaymentKey,
  [first, ...others]: Candidates,
  order: SessionOrder,
) => {
  let bank = first;
  let answer = await bank.openSession(order);
  for (const [index, next] of others.entries()) {
    if (answer.kind !== 'unaccepted') break;
    // Each call has the time of one before the session counts as lost.
    const askAt = order.now.add({ seconds: order_max_s * (index + 2) });
    const passed = await passOn(database, key, bank, next, { askAt, now: order.now });
    if (isRefusal(passed)) break;
    bank = next;
    answer = await bank.openSession({
      ...order,
      sessionUntil: passed.processingUntil ?? order.sessionUntil,
      reference: null,
    });
  }
  return { bank, answer: answer.kind === 'unaccepted' ? answer.otherwise : answer };
};

/**
 * The first bank, and later ones that accept the same input: the card in the same place, and the
 * holder if required.
 */
const alike = ([first, ...others]: Candidates, card: Card | null): Candidates => {
  const named = card === null || holderOf(card) !== null;
  return [
    first,
    ...others.filter(
      ({ cardsOn, asksHolder }) => cardsOn === first.cardsOn && (named || !asksHolder),
    ),
  ];
};

/** Whether a session may be begun from what was shown; else the row is read first. */
const isPayable = (shown: RatedPayment | undefined): shown is RatedPayment =>
  shown?.payment.status === 'pending' && buyerMethod(pageMethod(shown.payment)) !== null;

/**
 * Opens the session; refuses with `not_pending`, `bad_request`, `aml_blocked` (a card on a block
 * list), `method_unsupported` or `route_not_configured`. A bank without an answer leaves it
 * processing.
 */
export const openSession = async (
  database: Database,
  banks: Banks,
  policies: PolicyLists,
  request: SessionRequest,
): Promise<Payment | Refusal> => {
  const { key, card, pageUrl, now, shown } = request;
  const found = isPayable(shown) ? shown : await findPayment(database.pool, key, now);
  if (!found) return refuse('not_found', 'there is no such payment');
  if (found.payment.status === 'processing') return orderAgain(database, banks, policies, request);
  if (found.payment.status !== 'pending')
    return refuse('not_pending', `the payment is ${found.payment.status}`);
  const method = buyerMethod(pageMethod(found.payment));
  if (!method) return refuse('bad_request', 'choose a payment method first');
  const { merchantId, shopId, mode, capture, currency } = found.payment;
  if (method === 'cards' && card && policies.isBlocked(merchantId, 'card', card.number))
    return refuse('aml_blocked', 'this card is not accepted');
  const serving = await banks.candidates({
    merchantId,
    shopId,
    mode,
    operation: isBinding(found.payment.kind) ? 'recurrent' : 'payment',
    method,
    currency,
    holds: capture === 'manual',
  });
  if (isRefusal(serving)) return serving;
  const candidates = alike(serving, card);
  const bank = candidates[0];
  const payment = await begin(database, { known: found, bank, method }, request);
  // What was shown has moved since.
  if (isRefusal(payment) && shown)
    return openSession(database, banks, policies, { ...request, shown: undefined });
  if (isRefusal(payment)) return payment;
  const order = sessionOrder(payment, {
    method,
    card: bank.cardsOn === 'our_page' ? card : null,
    pageUrl,
    now,
  });
  const { bank: last, answer } = await orderSession(database, key, candidates, order);
  switch (answer.kind) {
    case 'opened':
      return recordSession(database, key, answer, now, { ...found, payment });
    case 'declined':
    case 'pending':
    case 'unknown':
      return applyBankAnswer(database, { ...key, order: now }, last.connector, answer, now);
  }
};
