/** Which receipts a payment has, and what of them may be shown. */
import type { PaymentMode } from '../../rules/receipt.ts';
import type { Metadata } from '../../rules/refusal.ts';

export interface Receipted {
  /** Null: the payment has no receipt. */
  readonly receiptTermsId: string | null;
  /** What a capture was given with; null: it has the payment's own. */
  readonly captureTermsId: string | null;
}

/** The terms of the receipt of captured money; null: there is none. */
export const termsOf = ({ receiptTermsId, captureTermsId }: Receipted): string | null =>
  captureTermsId ?? receiptTermsId;

/** The modes in which goods are paid before they are handed over. */
const prepaymentModes: readonly (PaymentMode | null)[] = [
  'full_prepayment',
  'prepayment',
  'partial_prepayment',
];

/** Whether something of these items was paid in advance. */
export const isPrepaid = (
  items: readonly { readonly paymentMode: PaymentMode | null }[],
): boolean => items.some(({ paymentMode }) => prepaymentModes.includes(paymentMode));

/** What the simulated cash register is planned to do, by a hint in metadata; null: it registers. */
export const plannedReceipt = (payment: {
  readonly mode: string;
  readonly metadata: Metadata;
}): 'failed' | 'pending' | null => {
  const hint = payment.mode === 'test' ? payment.metadata['simulator_receipt'] : undefined;
  return hint === 'failed' || hint === 'pending' ? hint : null;
};
