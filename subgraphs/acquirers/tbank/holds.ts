/**
 * Holds at T-Bank: a payment of two steps (`PayType` T) is `Confirm`ed or `Cancel`led. `Confirm`
 * has no idempotency key, but only what is authorized can be confirmed, and is not any more then:
 * the state is read before, and what it is afterwards is what took effect.
 */
import { stopped, unavailable, unknown } from '../bank-http.ts';
import type { HoldAnswer, HoldOrder } from '../bank.ts';
import { minorUnits, type MinorUnits } from '../../rules/money.ts';
import type { ApiAnswer } from './client.ts';
import { declinedBy, meaningOf, type WirePayment } from './wire.ts';
import { askEvery_s, isOrdered, movedPayment, type PaymentCalls } from './orders.ts';
import { receiptOf, refusalOf } from './receipts.ts';

/** The bank's days. */
const timeZone = 'Europe/Moscow';

/**
 * The end of a hold, which the bank itself does not report: the last of so many days in Moscow,
 * counted from the day of its order (its guide of two-step payments).
 */
export const holdEnd = (orderedAt: Temporal.Instant, hold_d: number): Temporal.Instant =>
  orderedAt.toZonedDateTimeISO(timeZone).startOfDay().add({ days: hold_d }).toInstant();

/** Whether what became of a hold is what was ordered; `amount` is what the bank is to repeat. */
const isAsOrdered = (
  calls: PaymentCalls,
  order: HoldOrder,
  payment: WirePayment,
  amount: MinorUnits,
): Promise<boolean> =>
  isOrdered(calls, { ...order, operationId: order.payment.operationId, amount }, payment);

/** The money was captured: as much as was ordered, or as another party ordered. */
const captured = async (
  calls: PaymentCalls,
  order: HoldOrder,
  payment: WirePayment,
): Promise<HoldAnswer> => {
  const { amount: repeated } = payment;
  if (repeated === null || !Number.isSafeInteger(repeated) || repeated < 1) return unknown;
  const amount = minorUnits(BigInt(repeated));
  const wanted = order.kind === 'capture' ? order.amount : amount;
  return (await isAsOrdered(calls, order, payment, wanted))
    ? { kind: 'captured', amount }
    : stopped;
};

/**
 * The result of the hold; null while it is active. A difference from the order stops the order: a
 * person must check it.
 */
const settled = async (
  calls: PaymentCalls,
  payment: WirePayment,
  order: HoldOrder,
): Promise<HoldAnswer | null> => {
  switch (meaningOf(payment.status)) {
    case 'paid':
      return captured(calls, order, payment);
    case 'given_up':
    case 'failed':
      return (await isAsOrdered(calls, order, payment, order.held))
        ? { kind: 'released' }
        : stopped;
    case 'open':
      return { kind: 'pending', askAt: order.now.add({ seconds: askEvery_s }) };
    case 'held':
      return null;
  }
};

const give = (
  { client, register }: PaymentCalls,
  { kind, operationId, amount, receipt }: HoldOrder,
  { id: PaymentId }: WirePayment,
): Promise<ApiAnswer> =>
  kind === 'capture'
    ? client.call('Confirm', { PaymentId, Amount: Number(amount), ...receiptOf(receipt, register) })
    : client.call('Cancel', { PaymentId, ExternalRequestId: operationId });

/** Captures or releases held money. */
export const settleHold = async (calls: PaymentCalls, order: HoldOrder): Promise<HoldAnswer> => {
  const refused = refusalOf(order.receipt, calls.register);
  if (refused !== null) return unavailable(refused);
  const before = await movedPayment(calls, order.payment);
  if (!before) return unknown;
  const ended = await settled(calls, before, order);
  if (ended) return ended;
  const answer = await give(calls, order, before);
  const after = await movedPayment(calls, order.payment);
  const became = after && (await settled(calls, after, order));
  if (became) return became;
  return after && answer.kind === 'rejected' ? declinedBy(answer.code) : unknown;
};
