/**
 * Applies a bank's answer to a payment, whatever brought it: the call itself, a callback, a poll, an operator.
 * Contract "States and transitions: Payment"; decision D-32: an unknown answer changes no state; decision D-36: the fee is taken on success.
 * This is the only code that makes a payment succeed or fail.
 */
import type { Database } from '../kernel/database/orm.ts';
import type { BankAnswer } from '../kernel/banks/bank.ts';
import { minorUnits } from '../kernel/rules/money.ts';
import { paymentSucceeded } from '../kernel/rules/postings.ts';
import type { FailureCode } from '../kernel/rules/failure-code.ts';
import type { Refused } from '../kernel/rules/refusal.ts';
import type { Payment } from './entities.ts';
import { changePayment, statusEvents, type Decision } from './change-payment.ts';
import { feeOf } from './rules/fee.ts';
import { paymentMove } from './rules/payment.ts';
import type { PaymentInHand, PaymentKey } from './store-payment.ts';

/** How long we wait before asking again a bank that gave no answer. */
const askAgain_s = 10;

const approve = ({ payment, rateBps }: PaymentInHand, answer: BankAnswer & { kind: 'approved' }, now: Temporal.Instant): Decision => {
  const status = paymentMove(payment.status, 'bank_approved');
  if (!status) return 'unchanged';
  const amount = minorUnits(payment.amount);
  const fee = feeOf(payment.mode, amount, rateBps);
  const { traits } = answer;
  return {
    patch: {
      status,
      fee,
      feeRateBps: rateBps,
      capturedAt: now,
      finalizedAt: now,
      askAt: null,
      rrn: answer.rrn,
      bankRef: answer.reference,
      customerCardBrand: traits.cardBrand ?? payment.customerCardBrand,
      customerCardMask: traits.cardMask ?? payment.customerCardMask,
      customerCardHolder: traits.cardHolder ?? payment.customerCardHolder,
      customerPhoneMask: traits.phoneMask,
      customerPayerBank: traits.payerBank,
      step: null,
      stepUrl: null,
    },
    postings: paymentSucceeded({ amount, fee }),
    events: (after) => statusEvents(after, [], now),
  };
};

const decline = (payment: Payment, connector: string, failureCode: FailureCode, bankCode: string, now: Temporal.Instant): Decision => {
  const status = paymentMove(payment.status, 'bank_declined');
  if (!status) return 'unchanged';
  return {
    patch: {
      status,
      failureCode,
      finalizedAt: now,
      askAt: null,
      step: null,
      stepUrl: null,
      metadata: { ...payment.metadata, failure_code: failureCode, bank_failure_code: `${connector}:${bankCode}` },
    },
    postings: [],
    events: (after) => statusEvents(after, [], now),
  };
};

const waitUntil = (payment: Payment, askAt: Temporal.Instant | null): Decision =>
  payment.status === 'processing' ? { patch: { askAt }, postings: [], events: () => [] } : 'unchanged';

/** Applies the answer; the payment as it is afterwards. A final answer for a payment that is final already changes nothing. */
export const applyBankAnswer = (
  database: Database,
  key: PaymentKey,
  connector: string,
  answer: BankAnswer,
  now: Temporal.Instant,
): Promise<Payment | Refused> =>
  changePayment(database, key, now, (inHand) => {
    switch (answer.kind) {
      case 'approved':
        return approve(inHand, answer, now);
      case 'declined':
        return decline(inHand.payment, connector, answer.failureCode, answer.bankCode, now);
      case 'pending':
        return waitUntil(inHand.payment, answer.askAt);
      case 'unknown':
        return waitUntil(inHand.payment, now.add({ seconds: askAgain_s }));
      // The session was opened here but never reached the bank: nothing can have been paid, and what the buyer typed is gone.
      case 'unseen':
        return decline(inHand.payment, connector, 'processing_error', 'unseen', now);
    }
  });
