/** The effect of a bank's authorisation on a payment. */
import type { BankAnswer } from '../../kernel/banks/bank-answer.ts';
import { statusEvents, type Decision } from '../change-payment.ts';
import type { Payment } from '../entities.ts';
import { elapsed } from '../holds/elapsed.ts';
import { releaseOrder } from '../holds/order-release.ts';
import { endedUnpaid, paymentMove, type PaymentStatus } from '../rules/payment.ts';
import { acceptedPatch } from './approval.ts';

/**
 * A final answer about a payment that is final already: nothing moves, and the bank need not be
 * asked again.
 */
export const settled = ({ askAt }: Payment): Decision =>
  askAt === null ? 'unchanged' : { patch: { askAt: null }, postings: [], events: () => [] };

/**
 * The status from which a success counts: an order that was registered and is paid has had its
 * session, whether the buyer came by our page or not.
 */
export const begun = ({ status, bankRef }: Payment): PaymentStatus =>
  status === 'pending' && bankRef !== null
    ? (paymentMove(status, 'session_opened') ?? status)
    : status;

/**
 * The bank holds the money: nothing is booked. Of a payment that has ended here the hold is given
 * up.
 */
export const authorize = (
  payment: Payment,
  connector: string,
  answer: BankAnswer & { readonly kind: 'authorized' },
  now: Temporal.Instant,
): Decision => {
  const status = paymentMove(begun(payment), 'bank_authorized');
  if (status)
    return {
      patch: {
        ...acceptedPatch(payment, answer),
        status,
        captureBefore: answer.captureBefore,
      },
      postings: [],
      events: (after) => statusEvents(after, [], now),
    };
  if (!endedUnpaid(payment.status) || payment.capturedAt !== null) return settled(payment);
  return {
    patch: {
      ...acceptedPatch(payment, answer),
      ...releaseOrder('give_up', now),
      connector: payment.connector ?? connector,
    },
    postings: [],
    events: () => [],
  };
};

/**
 * The bank held the money and gave it up: an authorized payment has expired. Null for one that is
 * not authorized here.
 */
export const letGo = (payment: Payment, now: Temporal.Instant): Decision | null =>
  payment.status === 'authorized' ? elapsed(payment, now) : null;
