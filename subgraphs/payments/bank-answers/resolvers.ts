/**
 * How the service has a bank asked at once, when the bank says that something has happened. The
 * access table lets only the service itself in.
 */
import type { MutationResolvers } from '../../../schema/generated/payments.ts';
import { isRefused } from '../../kernel/rules/refusal.ts';
import { askBank } from './ask-bank.ts';
import { loadPayments } from '../find-payments.ts';
import type { PaymentsParts } from '../parts.ts';
import { sendRefund } from '../refunds/send-refund.ts';
import { findRefunds } from '../store-payment.ts';

/** The mutation behind a bank's notification of a payment or a refund. */
export const bankMutations = ({
  database,
  banks,
  wakeRelay,
}: PaymentsParts): Pick<MutationResolvers, 'bankPaymentAsk'> => ({
  bankPaymentAsk: async (_, { merchantId, id }, { now }) => {
    const [payment] = await loadPayments(database.pool, [{ merchantId, id }]);
    if (payment?.mode !== 'live') return false;
    const asked = await askBank(database, banks, { merchantId, paymentId: id }, now());
    const pending = (await findRefunds(database.pool, [payment])).filter(
      ({ status, bankRef }) => status === 'pending' && bankRef !== null,
    );
    for (const refund of pending)
      await sendRefund(database, banks, { merchantId, refundId: refund.id }, now());
    wakeRelay();
    return !isRefused(asked);
  },
});
