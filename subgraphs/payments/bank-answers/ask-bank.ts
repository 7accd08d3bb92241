/**
 * Queries the bank about a payment and applies the answer. Queries repeat until the answer is
 * final, and for a while after the session has expired.
 */
import type { Bank, PaymentQuestion, BankAnswer } from '../../acquirers/bank.ts';
import type { Banks } from '../../acquirers/route.ts';
import { dueOn } from '../../platform/clock/due.ts';
import type { Database } from '../../platform/database/orm.ts';
import { minorUnits } from '../../rules/money.ts';
import { isBinding, isCharge } from '../../rules/recurring.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import { applyBankAnswer, isVoided } from './apply-bank-answer.ts';
import { earlyMethod, recordEarlyOrder } from './create-early-order.ts';
import type { Payment } from '../entities.ts';
import { sendHoldOrder } from '../holds/send-hold-order.ts';
import { orderCharge } from './orders.ts';
import { buyerMethod, pageMethod } from '../rules/create.ts';
import { isUnderWay, orderState } from '../rules/order.ts';
import { endedUnpaid, sessionLength_min, sessionTtl_min } from '../rules/payment.ts';
import {
  findPayment,
  inPaymentTrace,
  type RatedPayment,
  type PaymentKey,
} from '../store-payment.ts';

/**
 * Whether the bank may know more of a payment than we do: a session that is open, an order that was
 * registered before the buyer went on, one that expired before the bank had reported how it ended,
 * or one that the bank had not seen when it was asked: about that one it may notify us at any time.
 */
const isOpenQuestion = ({
  mode,
  status,
  bankRef,
  processingUntil,
  capturedAt,
  askAt,
}: Payment): boolean => {
  if (status === 'processing') return true;
  // Only the bank's own word makes it a question: it may have ended the hold, or captured it.
  if (status === 'authorized') return mode === 'live';
  if (capturedAt !== null) return false;
  if (mode === 'live' && bankRef !== null && status !== 'failed') return true;
  if (status === 'expired') return processingUntil !== null;
  return status === 'failed' && (askAt !== null || (mode === 'live' && bankRef === null));
};

/**
 * A live payment without a bank: if an order of it was given, its answer was lost. Only the
 * notification of the bank that has it says which one that is.
 */
const isWithoutBank = ({ mode, connector, capturedAt }: Payment): boolean =>
  mode === 'live' && connector === null && capturedAt === null;

/**
 * A charge of a saved method is ordered again until its time is over, and only asked about from
 * then on: an order would take the buyer's money too late.
 */
const isOrderedAgain = (
  { status, kind, processingUntil }: Payment,
  now: Temporal.Instant,
): boolean =>
  isCharge(kind) &&
  status === 'processing' &&
  processingUntil !== null &&
  Temporal.Instant.compare(now, processingUntil) < 0;

/**
 * The query to the bank, with what was ordered. A session is ordered when its time begins, a
 * charge until its time ends.
 */
const questionAbout = (payment: Payment, bank: Bank, now: Temporal.Instant): PaymentQuestion => {
  const { processingUntil, createdAt } = payment;
  const isOfSaved = isCharge(payment.kind);
  const minutes = isOfSaved ? sessionTtl_min : sessionLength_min(bank.sessionTtl_min);
  const orderedAt = processingUntil?.subtract({ minutes }) ?? createdAt;
  return {
    merchantId: payment.merchantId,
    operationId: payment.id,
    reference: payment.bankRef,
    amount: minorUnits(payment.amount),
    currency: payment.currency,
    createdEarlyAt: payment.mode === 'live' && !isOfSaved ? createdAt : null,
    orderedAt,
    lastOrderedAt: (isOfSaved && processingUntil) || (payment.orderedAt ?? orderedAt),
    method: isOfSaved ? null : buyerMethod(pageMethod(payment)),
    voided: isVoided(payment),
    holds: payment.capture === 'manual',
    saves: isBinding(payment.kind),
    awaitsStep:
      orderState(payment) === 'absent' ||
      (payment.status === 'processing' && payment.step === 'wait' && payment.stepUrl === null),
    now,
  };
};

/**
 * The bank's answer: to the order of a charge, to a query, or to the cancellation of an order whose
 * payment has ended here.
 */
const answerOf = async (
  bank: Bank,
  payment: Payment,
  now: Temporal.Instant,
  ask: Ask,
): Promise<BankAnswer> => {
  if (isOrderedAgain(payment, now)) return orderCharge(bank, payment, false, now);
  const question = questionAbout(payment, bank, now);
  if (endedUnpaid(payment.status) && bank.cancelOrder) return bank.cancelOrder(question);
  const answer = await ask(question);
  return answer.kind === 'unseen' &&
    payment.status === 'processing' &&
    isUnderWay(payment.orderedAt, now)
    ? { kind: 'unknown' }
    : answer;
};

type Ask = Bank['ask'];

/**
 * Queries one payment and returns it as it is afterwards. A payment without an order, or with a
 * final answer, stays as it is.
 */
export const askBank = (
  database: Database,
  banks: Banks,
  key: PaymentKey,
  now: Temporal.Instant,
  notifiedBy: string | null = null,
): Promise<Payment | Refusal> =>
  inPaymentTrace(database, key, 'ask bank', async () => {
    const found = await findPayment(database.pool, key, now);
    if (!found) return refuse('not_found', 'there is no such payment');
    return askAbout(database, banks, found, now, { notifiedBy });
  });

/** The same about a payment that the call has read; `ask` may take the place of the question. */
export const askAbout = async (
  database: Database,
  banks: Banks,
  known: RatedPayment,
  now: Temporal.Instant,
  { notifiedBy = null, ask }: { readonly notifiedBy?: string | null; readonly ask?: Ask },
): Promise<Payment | Refusal> => {
  const { payment } = known;
  const key = { merchantId: payment.merchantId, paymentId: payment.id };
  if (payment.holdOrder !== null) {
    const sent = await sendHoldOrder(database, banks, key, now);
    return isRefusal(sent) ? sent : sent.payment;
  }
  const isFound = notifiedBy !== null && isWithoutBank(payment);
  if (!isFound && !isOpenQuestion(payment)) return payment;
  const bank = banks.bankOf({ ...payment, connector: payment.connector ?? notifiedBy });
  if (isRefusal(bank)) return bank;
  // A bank that takes no order before the buyer comes has none of this payment.
  if (isFound && !earlyMethod(bank, payment.method)) return payment;
  const answer = await answerOf(bank, payment, now, ask ?? ((question) => bank.ask(question)));
  // An order whose buyer has not gone on yet may end at the bank, which says nothing of the link
  // here; that it is paid counts.
  const isAccepted = answer.kind === 'approved' || answer.kind === 'authorized';
  if (payment.status === 'pending' && !isAccepted) return payment;
  if (payment.status === 'pending' && isAccepted && isFound) {
    const recorded = await recordEarlyOrder(database, bank, payment, answer.reference, now);
    if (isRefusal(recorded)) return recorded;
    // The buyer has gone on to another bank meanwhile.
    if (recorded.connector !== null && recorded.connector !== bank.connector) return recorded;
    return applyBankAnswer(database, key, bank.connector, answer, now);
  }
  return applyBankAnswer(database, { ...key, known }, bank.connector, answer, now);
};

/** Payments that the bank is to be asked about at a known moment. */
export const paymentAsks = dueOn<PaymentKey>({
  name: 'payment_asks',
  table: 'payment',
  at: 'ask_at',
  columns: 'merchant_id as "merchantId", id as "paymentId"',
});
