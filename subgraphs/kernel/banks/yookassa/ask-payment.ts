/**
 * The result of an order at YooKassa. An order whose answer was lost is looked up in the list of
 * payments.
 */
import type { PaymentQuestion } from '../bank.ts';
import type { BankAnswer } from '../bank-answer.ts';
import type { ApiAnswer } from './client.ts';
import { held, isReleased } from './holds.ts';
import { approved, standing, stopped, unknown, type PaymentCalls } from './payment-answers.ts';
import { readPage, readPayment, type WirePayment } from './wire.ts';

/** After this an order missing from the bank's list never arrived. */
const arrivesWithin_s = 60;
/** How much of the list is read: within the minutes around an order. */
const pages_max = 100;

const isOurVoid = ({ status, cancellation }: WirePayment): boolean =>
  status === 'canceled' && cancellation.reason === 'canceled_by_merchant';

/**
 * The card was authorised: the authorisation is voided, and the method is verified when that is
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

/** The money is to be held: what was captured of it may be less than was ordered. */
const settleHeld = async (
  calls: PaymentCalls,
  asked: PaymentQuestion,
  payment: WirePayment,
): Promise<BankAnswer> => {
  if (payment.operationId === asked.operationId && isReleased(payment)) return { kind: 'released' };
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
  { operationId, createdEarlyAt, orderedAt, lastOrderedAt }: PaymentQuestion,
): Promise<Found> => {
  const within = (first: Temporal.Instant, last: Temporal.Instant): Promise<Found> =>
    searchBetween(calls, operationId, first.subtract({ seconds: 30 }), last.add({ minutes: 2 }));
  return (
    (await within(orderedAt, lastOrderedAt)) ??
    (createdEarlyAt && within(createdEarlyAt, createdEarlyAt))
  );
};

/** Asks what became of an order. */
export const askPayment = async (
  calls: PaymentCalls,
  asked: PaymentQuestion,
): Promise<BankAnswer> => {
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
