/** Captures and cancellations: from GraphQL to a verb, and back. */
import type { MutationResolvers } from '../../../schema/generated/payments.ts';
import { isRefusal, refuse } from '../../rules/refusal.ts';
import { isUuid } from '../../rules/ids.ts';
import { callerOf } from '../caller.ts';
import type { Payment } from '../entities.ts';
import type { ReadingDeps } from '../parts.ts';
import { givenReceipt } from '../../acquirers/receipts/given-receipt.ts';
import { capturePayment } from './capture-payment.ts';
import { cancelOrRelease } from './release-hold.ts';

/** The mutations by which keys and people capture and cancel payments. */
export const holdMutations = (
  deps: ReadingDeps,
): Pick<MutationResolvers, 'paymentCapture' | 'paymentCancel'> => {
  const { database, banks, customers, wakeRelay, askLater } = deps;
  /** Publishes a change, and queries the bank about an open result. */
  const changed = (payment: Payment, now: Temporal.Instant): void => {
    wakeRelay();
    if (payment.askAt)
      askLater(payment.id, Math.max(0, payment.askAt.epochMilliseconds - now.epochMilliseconds));
  };
  return {
    paymentCapture: async (
      _,
      { id, amount, receipt, idempotency, merchantId },
      { principal, requestId, now },
    ) => {
      const calling = await callerOf(deps, principal, { id, merchantId }, now);
      if (isRefusal(calling)) return calling;
      const given = givenReceipt(customers, receipt, calling.now);
      if (given && isRefusal(given)) return given;
      const asked = { paymentId: id, amount: amount ?? null, receipt: given };
      const request = { ...asked, requestId, idempotency };
      const captured = await capturePayment(database, banks, calling.caller, request, calling.now);
      if (isRefusal(captured)) return captured;
      const { payment, replayed } = captured;
      if (!replayed) changed(payment, calling.now);
      return { __typename: 'PaymentCaptured', payment, idempotent: replayed };
    },
    paymentCancel: async (_, { id, merchantId }, { principal, requestId, now }) => {
      if (!isUuid(id)) return refuse('not_found', 'there is no such payment');
      const calling = await callerOf(deps, principal, { id, merchantId }, now);
      if (isRefusal(calling)) return calling;
      const asked = { paymentId: id, requestId };
      const payment = await cancelOrRelease(database, banks, calling.caller, asked, calling.now);
      if (isRefusal(payment)) return payment;
      changed(payment, calling.now);
      return { __typename: 'PaymentCancelled', payment };
    },
  };
};
