/** Whether a movement of a part of a payment needs a receipt. */
import { openReadTerms, givenReceipt, type GivenReceipt } from '../../acquirers/receipt-terms.ts';
import type { Runner } from '../../platform/database/statement.ts';
import { receiptMistake, type ReceiptInput } from '../../rules/receipt.ts';
import { type Refusal, refuse } from '../../rules/refusal.ts';
import { type PaymentCaller, isOfCaller, shopDemand, type PaymentsDeps } from '../parts.ts';
import { loadPayments } from '../find-payments.ts';
import { termsOf, type Receipted } from './rules.ts';

/** What the caller's shop demands: a key brings it along, for a person the shop is read. */
const demandOf = async (
  runner: Runner,
  caller: PaymentCaller,
): Promise<{ readonly receiptsRequired?: true }> =>
  caller.kind === 'key' ? caller : ((await shopDemand(runner, caller)) ?? {});

/**
 * Why a capture or a refund of a part that was given no receipt needs one of its own: the payment
 * has one, or the shop sells nothing without. Null when it needs none.
 */
export const partReceiptMistake = async (
  runner: Runner,
  caller: PaymentCaller,
  payment: Receipted,
  part: 'capture' | 'refund',
): Promise<Refusal | null> =>
  termsOf(payment) === null
    ? receiptMistake(await demandOf(runner, caller), null)
    : refuse(
        'bad_request',
        `receipt: required for a partial ${part}, since the payment has a receipt`,
      );

// A receipt of a part that may leave its recipient to the payment: then it goes where the receipt
// of the payment went, without typing it or seeing it whole.

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
  const terms = await openReadTerms(pool, customers)(merchantId, termsId);
  return givenReceipt(customers, { ...input, customer: terms.customer }, now);
};
