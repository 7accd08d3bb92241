/**
 * How the service has a bank asked at once, when the bank says that something has happened. The
 * access table lets only the service itself in.
 */
import type { BankReceiptInput, MutationResolvers } from '../../../schema/generated/payments.ts';
import { isRefusal } from '../../rules/refusal.ts';
import { askBank } from './ask-bank.ts';
import { loadPayments } from '../find-payments.ts';
import type { PaymentsDeps } from '../parts.ts';
import { recordNotified, type NotifiedEnd } from '../receipts/record-notified.ts';
import { sendRefund } from '../refunds/send-refund.ts';
import { findRefunds } from '../store-payment.ts';

const notifiedEnd = (
  { merchantId, paymentId, type, amount, failureReason, ...fiscal }: BankReceiptInput,
  now: Temporal.Instant,
): NotifiedEnd => {
  const { fiscalStorageNumber, fiscalDocumentNumber, fiscalAttribute, registeredAt } = fiscal;
  const base = { merchantId, paymentId, type, amount };
  if (!fiscalStorageNumber || !fiscalDocumentNumber || !fiscalAttribute)
    return { ...base, answer: { kind: 'failed', reason: failureReason ?? 'no reason was given' } };
  const numbers = { fiscalStorageNumber, fiscalDocumentNumber, fiscalAttribute };
  return {
    ...base,
    answer: { kind: 'registered', ...numbers, registeredAt: registeredAt ?? now },
  };
};

/** The mutations behind a bank's notification of a payment, a refund or a receipt. */
export const bankMutations = ({
  database,
  banks,
  wakeRelay,
}: PaymentsDeps): Pick<MutationResolvers, 'bankPaymentAsk' | 'bankReceiptRecord'> => ({
  bankReceiptRecord: async (_, { input }, { now }) => {
    const recorded = await recordNotified(database, notifiedEnd(input, now()), now());
    wakeRelay();
    return recorded;
  },
  bankPaymentAsk: async (_, { merchantId, id, connector }, { now }) => {
    const [payment] = await loadPayments(database.pool, [{ merchantId, id }]);
    if (payment?.mode !== 'live') return false;
    const asked = await askBank(database, banks, { merchantId, paymentId: id }, now(), {
      notifiedBy: connector ?? null,
    });
    const pending = (await findRefunds(database.pool, [payment])).filter(
      ({ status, bankRef }) => status === 'pending' && bankRef !== null,
    );
    for (const refund of pending)
      await sendRefund(database, banks, { merchantId, refundId: refund.id }, now());
    wakeRelay();
    return !isRefusal(asked);
  },
});
