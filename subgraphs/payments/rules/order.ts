/**
 * The state of a processing payment's order at its bank. The move to `processing` is written before
 * the bank is called, so a crash in between leaves an order of unknown state. An order that the
 * bank certainly has not seen is sent again under the same key; the payment does not fail.
 */
import type { BankStep } from '../../rules/banks.ts';
import { isCharge, type RecurringKind } from '../../rules/recurring.ts';
import { pageMethod } from './create.ts';
import type { PaymentMethod, PaymentStatus } from './payment.ts';

/** No call to a bank takes longer: what has no answer is asked about or repeated from then on. */
export const order_max_s = 30;
/** How long we wait before asking again a bank that gave no answer. */
export const askAgain_s = 10;
/** How long the buyer's next press waits for an order that may still be under way. */
const orderPatience_ms = 3_000;
/** How soon the bank is asked again about an order that it has not seen. */
const absentAgain_s = 10;
/** The same where the order waits for its buyer, who types the card again. */
const absentCardAgain_s = 60;

/**
 * `absent`: the bank surely has no order. `unanswered`: an order was given, and its answer is not
 * known. `standing`: the bank has it, or has something else, for which an alert was raised.
 */
export type OrderState = 'absent' | 'unanswered' | 'standing';

/** The fields of a payment that determine the state of its order. */
interface OrderedPayment {
  readonly status: PaymentStatus;
  readonly kind: RecurringKind | null;
  readonly method: PaymentMethod;
  readonly step: BankStep | null;
  readonly stepUrl: string | null;
  readonly bankRef: string | null;
  readonly askAt: Temporal.Instant | null;
}

/**
 * The order's state; null for a payment that is not processing, and for a charge without a buyer.
 */
export const orderState = (payment: OrderedPayment): OrderState | null => {
  const { status, kind, step, stepUrl, bankRef, askAt } = payment;
  if (status !== 'processing' || isCharge(kind)) return null;
  if (step === null) return 'absent';
  // A registered order has its reference before its buyer continues; a card's is never registered.
  const isRecorded = stepUrl !== null || (bankRef !== null && pageMethod(payment) === 'cards');
  return step !== 'wait' || isRecorded || askAt === null ? 'standing' : 'unanswered';
};

/** Whether an order that is given now can still be paid within the session. */
export const isTimeToOrder = (
  processingUntil: Temporal.Instant | null,
  now: Temporal.Instant,
): boolean =>
  processingUntil !== null &&
  Temporal.Instant.compare(now.add({ seconds: order_max_s }), processingUntil) < 0;

/** Whether the order of a moment is the last one that was given. */
export const isLastOrder = (orderedAt: Temporal.Instant | null, at: Temporal.Instant): boolean =>
  orderedAt?.epochMilliseconds === at.epochMilliseconds;

/** Whether the last order may still be on its way, so that "not seen" means nothing yet. */
export const isUnderWay = (orderedAt: Temporal.Instant | null, now: Temporal.Instant): boolean =>
  orderedAt !== null && Temporal.Instant.compare(now, orderedAt.add({ seconds: order_max_s })) < 0;

/** How long the buyer's next press waits for the answer to the last order, in milliseconds. */
export const patienceLeft_ms = (
  orderedAt: Temporal.Instant | null,
  now: Temporal.Instant,
): number => {
  const passed_ms =
    orderedAt === null ? orderPatience_ms : now.epochMilliseconds - orderedAt.epochMilliseconds;
  return Math.max(0, orderPatience_ms - Math.max(0, passed_ms));
};

/** When the bank is asked next about an order that it has not seen. */
export const nextQuestionAboutAbsent = (
  payment: Pick<OrderedPayment, 'kind' | 'method'>,
  now: Temporal.Instant,
): Temporal.Instant =>
  now.add({ seconds: pageMethod(payment) === 'cards' ? absentCardAgain_s : absentAgain_s });
