/**
 * Applies a bank's answer to a payment (docs/contract.md#payment-states), whatever its source: the
 * call itself, a callback, a query or an operator. This is where a bank's refusal becomes `failed`.
 * An unknown answer changes no state. A late success is refunded. The fee is taken on success. Two
 * files handle other answers: `holds/send-hold-order` the capture of a hold, and
 * `create-early-order` a refusal during the create, with `decline` of this file.
 */
import type { Database } from '../../platform/database/orm.ts';
import type { BankAnswer, FoundSession } from '../../acquirers/bank.ts';
import { newRowId } from '../../platform/database/statement.ts';
import { nextQuestionAfterEnd } from '../../rules/banks.ts';
import { asSubject } from '../../rules/event.ts';
import { minorUnits } from '../../rules/money.ts';
import { paymentSucceeded, refundOpened } from '../../rules/postings.ts';
import type { FailureCode } from '../../rules/failure-code.ts';
import { isRefusal, type Refusal } from '../../rules/refusal.ts';
import { approvalPatch, referencePatch, type Approval, acceptedPatch } from './orders.ts';
import type { Payment, Refund } from '../entities.ts';
import { statusEvents, type Decision, statusChange } from '../change-payment.ts';
import { applyWithinBound } from './keep-bound.ts';
import { newRefund, refundCreated } from '../refunds/record-refund.ts';
import { returnLatePayment } from '../refunds/return-late-payment.ts';
import { askAgain_s, isLastOrder, nextQuestionAboutAbsent, orderState } from '../rules/order.ts';
import {
  endedUnpaid,
  isAccepted,
  paymentMove,
  type PaymentStatus,
  feeOf,
} from '../rules/payment.ts';
import {
  unpublished,
  type PaymentChange,
  type PaymentPatch,
  type RatedPayment,
  type PaymentKey,
} from '../store-payment.ts';
import { raiseAlert } from '../../platform/alerts/alerts.ts';
import { elapsed, releaseOrder } from '../holds/send-hold-order.ts';

/* The effect of a bank's authorisation on a payment. */

/** A final answer about a final payment: nothing moves, and the bank is not asked again. */
const settled = ({ askAt }: Payment): Decision =>
  askAt === null ? 'unchanged' : unpublished({ askAt: null });

/**
 * The status from which a success counts: an order that was registered and is paid has had its
 * session, whether the buyer came by our page or not.
 */
const begun = ({ status, bankRef }: Payment): PaymentStatus =>
  status === 'pending' && bankRef !== null
    ? (paymentMove(status, 'session_opened') ?? status)
    : status;

/** Nothing is booked of held money. Of a payment that has ended here the hold is given up. */
const authorize = (
  payment: Payment,
  connector: string,
  answer: BankAnswer & { readonly kind: 'authorized' },
  now: Temporal.Instant,
): Decision => {
  const status = paymentMove(begun(payment), 'bank_authorized');
  if (status)
    return statusChange(now, {
      ...acceptedPatch(payment, answer),
      status,
      captureBefore: answer.captureBefore,
    });
  if (!endedUnpaid(payment.status) || payment.capturedAt !== null) return settled(payment);
  return unpublished({
    ...acceptedPatch(payment, answer),
    ...releaseOrder('give_up', now),
    connector: payment.connector ?? connector,
  });
};

/**
 * The bank denies a payment that the merchant was told is paid. Nothing moves automatically; a
 * person must contact the bank.
 */
const alertOfContradiction = (
  database: Database,
  payment: Payment,
  connector: string,
  bankCode: string,
  at: Temporal.Instant,
): Promise<boolean> => {
  const { publicId, status } = payment;
  return raiseAlert(database.pool, {
    ...asSubject(payment),
    kind: 'bank_answer_contradicts',
    detail: `${connector} refused ${publicId} (${bankCode}) after it had approved it; the payment stays ${status}`,
    fields: { bank: connector, payment: publicId, code: bankCode, status },
    at,
  });
};

// A payment that only verified the method. A card is authorised and voided, any other method is charged
// and refunded. The payment succeeds without a fee and is refunded in the same statement. A voided
// authorisation moved no money and is not booked; a charge is booked in both directions.

/**
 * Whether an approval of this payment has moved no money: the bank gave the authorisation up again.
 */
export const isVoided = ({ verification, method }: Payment): boolean =>
  verification && method === 'cards';

const returnOf = (payment: Payment, now: Temporal.Instant): Refund => {
  const base = { id: newRowId(), amount: payment.amount };
  const back = { ...base, reason: 'The verification is given back', askAt: now };
  if (!isVoided(payment)) return newRefund(payment, back, now);
  const voided = { ...base, reason: 'The verification was voided', askAt: null };
  return { ...newRefund(payment, voided, now), status: 'succeeded', completedAt: now };
};

/** The effect of an approved verification: the payment succeeds, and its money returns. */
const verified = (payment: Payment, answer: Approval, now: Temporal.Instant): PaymentChange => {
  const amount = minorUnits(payment.amount);
  const nothing = minorUnits(0n);
  const refund = returnOf(payment, now);
  const succeeded = {
    ...approvalPatch(payment, answer, now),
    status: 'succeeded',
    fee: nothing,
    feeRateBps: 0,
    finalizedAt: now,
  } as const;
  const before = { ...payment, ...succeeded };
  if (!isVoided(payment)) {
    return {
      patch: succeeded,
      postings: paymentSucceeded({ amount, fee: nothing }),
      events: (after) => [...statusEvents(after, [refund], now), refundCreated(refund, now)],
      refund: { row: refund, postings: refundOpened({ amount }) },
    };
  }
  return {
    patch: { ...succeeded, status: 'refunded', amountRefunded: amount },
    postings: [],
    events: (after) => [
      ...statusEvents(before, [], now),
      refundCreated(refund, now),
      ...statusEvents(after, [refund], now),
    ],
    refund: { row: refund, postings: [] },
  };
};

const approve = (
  { payment, rateBps }: RatedPayment,
  answer: Approval,
  now: Temporal.Instant,
): Decision => {
  // Captured at the bank by others, in full.
  const status =
    paymentMove(begun(payment), 'bank_approved') ?? paymentMove(payment.status, 'captured');
  // What comes too late is still to be booked: until then the question stays open, so that a crash
  // in between does not lose it.
  if (!status)
    return payment.capturedAt === null && !isVoided(payment) ? 'unchanged' : settled(payment);
  if (payment.verification) return verified(payment, answer, now);
  // Decided again from the row, which is read with its rate.
  if (rateBps === null) return 'unchanged';
  const amount = minorUnits(payment.amount);
  const fee = feeOf(payment.mode, amount, rateBps);
  return {
    patch: {
      ...approvalPatch(payment, answer, now),
      status,
      fee,
      feeRateBps: rateBps,
      captureBefore: null,
      finalizedAt: now,
    },
    postings: paymentSucceeded({ amount, fee }),
    rateBps,
    events: (after) => statusEvents(after, [], now),
  };
};

/** A refusal by the bank: the payment's end, or nothing when it has ended. */
export const decline = (
  payment: Payment,
  connector: string,
  failureCode: FailureCode,
  bankCode: string,
  now: Temporal.Instant,
): Decision => {
  const status = paymentMove(payment.status, 'bank_declined');
  if (!status) return settled(payment);
  return statusChange(now, {
    status,
    failureCode,
    finalizedAt: now,
    askAt: null,
    step: null,
    stepUrl: null,
    metadata: {
      ...payment.metadata,
      failure_code: failureCode,
      bank_failure_code: `${connector}:${bankCode}`,
    },
  });
};

/**
 * The answer to the order was lost, and the buyer still waits on the page: the session continues
 * with the bank's present answer.
 */
const foundPatch = (payment: Payment, session: FoundSession | undefined): PaymentPatch => {
  const isAbsent = orderState(payment) === 'absent';
  // A late order has arrived after all: the bank has it, and its buyer waits for the end.
  if (!session) return isAbsent ? { step: 'wait' as const } : {};
  if (!isAbsent && (payment.step !== 'wait' || payment.stepUrl !== null)) return {};
  const { reference, step, stepUrl } = session;
  return { ...referencePatch(payment, reference), step, stepUrl };
};

/** A payment that has ended here is queried for another day, so that late money is returned. */
const wait = (
  { payment }: RatedPayment,
  askAt: Temporal.Instant | null,
  now: Temporal.Instant,
  found: PaymentPatch = {},
): Decision => {
  if (payment.status === 'processing') return unpublished({ askAt, ...found });
  if (!endedUnpaid(payment.status) || payment.askAt === null || payment.finalizedAt === null)
    return 'unchanged';
  return unpublished({ askAt: nextQuestionAfterEnd(payment.finalizedAt, now) });
};

/**
 * The bank has not seen the order, so nothing was paid: the order is given again, by the buyer or
 * by `order-again`, for as long as the session lasts. Of an order that the bank had before, it
 * means nothing.
 */
const unseen = (rated: RatedPayment, now: Temporal.Instant): Decision => {
  const { payment } = rated;
  switch (orderState(payment)) {
    case 'absent':
    case 'unanswered':
      return unpublished({
        step: null,
        stepUrl: null,
        askAt: nextQuestionAboutAbsent(payment, now),
      });
    case 'standing':
      return wait(rated, now.add({ seconds: askAgain_s }), now);
    case null:
      return settled(payment);
  }
};

const decide = (
  rated: RatedPayment,
  connector: string,
  answer: BankAnswer,
  now: Temporal.Instant,
): Decision => {
  // Until the bank's word on its hold is known, nothing else moves it.
  if (rated.payment.holdOrder !== null) return 'unchanged';
  if (answer.kind === 'approved') return approve(rated, answer, now);
  if (answer.kind === 'authorized') return authorize(rated.payment, connector, answer, now);
  // An order that was registered and has ended there ends no link: a buyer who comes now gets a new
  // one.
  if (rated.payment.status === 'pending') return 'unchanged';
  switch (answer.kind) {
    case 'declined':
      return decline(rated.payment, connector, answer.failureCode, answer.bankCode, now);
    case 'released':
      // The bank held the money and gave it up: an authorized payment has expired.
      return rated.payment.status === 'authorized'
        ? elapsed(rated.payment, now)
        : decline(rated.payment, connector, 'capture_expired', 'released', now);
    case 'pending':
      return wait(rated, answer.askAt, now, foundPatch(rated.payment, answer.session));
    case 'unknown':
      return wait(rated, now.add({ seconds: askAgain_s }), now);
    case 'unseen':
      return unseen(rated, now);
  }
};

/**
 * What the answer to an order is worth once another order was given: that one may have arrived,
 * whatever became of the first.
 */
const unlessSuperseded = (
  answer: BankAnswer,
  { orderedAt }: Payment,
  order: Temporal.Instant | undefined,
): BankAnswer => {
  const isSuperseded = order !== undefined && !isLastOrder(orderedAt, order);
  return isSuperseded && (answer.kind === 'declined' || answer.kind === 'unseen')
    ? { kind: 'unknown' }
    : answer;
};

/** A payment, and what the caller knows of it. */
interface Answered extends PaymentKey {
  /** When the answered order was given; another one may have been given since. */
  readonly order?: Temporal.Instant;
  /** The payment as the call has read it. */
  readonly known?: RatedPayment | null;
}

/**
 * Applies the answer; the payment as it is afterwards. A final answer for a payment that is final
 * already changes nothing, except that the money of a success after another end is returned.
 */
export const applyBankAnswer = async (
  database: Database,
  { order, known = null, ...key }: Answered,
  connector: string,
  received: BankAnswer,
  now: Temporal.Instant,
): Promise<Payment | Refusal> => {
  let answer = received;
  const operationId = received.kind === 'approved' ? key.paymentId : null;
  const bounded = { key, connector, answer, now, operationId, known };
  const payment = await applyWithinBound(database, bounded, (rated, applied) => {
    answer = unlessSuperseded(applied, rated.payment, order);
    return decide(rated, connector, answer, now);
  });
  if (isRefusal(payment)) return payment;
  if (answer.kind === 'approved' && endedUnpaid(payment.status) && !isVoided(payment))
    return returnLatePayment(database, key, connector, answer, now);
  if (answer.kind === 'declined' && isAccepted(payment.status))
    await alertOfContradiction(database, payment, connector, answer.bankCode, now);
  return payment;
};
