/**
 * A receipt of a part that may leave its recipient to the payment: then it goes where the receipt
 * of the payment went, without typing it or seeing it whole.
 */
import { openReadTerms } from '../../acquirers/receipt-terms.ts';
import { givenReceipt, type GivenReceipt } from '../../acquirers/receipts/given-receipt.ts';
import type { ReceiptInput } from '../../rules/receipt-terms.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';
import { isOfCaller, type PaymentCaller } from '../caller.ts';
import { loadPayments } from '../find-payments.ts';
import type { PaymentsDeps } from '../parts.ts';
import { termsOf } from './rules.ts';

/** A receipt as a caller gives it; without a customer it goes to the payment's. */
export type PartReceiptInput = Omit<ReceiptInput, 'customer'> & {
  readonly customer?: ReceiptInput['customer'] | null | undefined;
};

/**
 * Checks and seals what was given for a part of a payment of the caller; null when nothing was.
 * Refuses with `bad_request`, also where the payment has no receipt whose recipient it could take.
 */
export const givenPartReceipt = async (
  { database: { pool }, customers }: Pick<PaymentsDeps, 'database' | 'customers'>,
  caller: PaymentCaller,
  paymentId: string,
  input: PartReceiptInput | null | undefined,
  now: Temporal.Instant,
): Promise<GivenReceipt | Refusal | null> => {
  if (!input) return null;
  const { customer } = input;
  if (customer) return givenReceipt(customers, { ...input, customer }, now);
  const { merchantId } = caller;
  const [payment] = await loadPayments(pool, [{ merchantId, id: paymentId }]);
  const termsId = payment && isOfCaller(payment, caller) ? termsOf(payment) : null;
  if (termsId === null)
    return refuse(
      'bad_request',
      'receipt.customer: required, since the payment has no receipt of its own',
    );
  const [terms] = await openReadTerms(pool, customers)([{ merchantId, termsId }]);
  return givenReceipt(customers, { ...input, customer: terms?.customer ?? {} }, now);
};
