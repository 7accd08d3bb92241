/**
 * What the hosted page offers: the choice of a method while it is `any`, and another outcome in
 * test mode.
 */
import { buyerMethods, type BuyerMethod } from '../../rules/buyer.ts';
import type { RecurringKind } from '../../rules/recurring.ts';
import type { PaymentMethod } from '../rules/payment.ts';

/**
 * The method as one that a buyer pays with; null for `any` (not chosen yet) and `recurrent` (no
 * buyer).
 */
export const buyerMethod = (method: PaymentMethod): BuyerMethod | null =>
  buyerMethods.find((candidate) => candidate === method) ?? null;

/**
 * The method that the page uses. The buyer of a `recurrent` payment pays by card, while the payment
 * keeps its method and that method's rate. A charge of a saved method has no buyer.
 */
export const pageMethod = ({
  method,
  kind,
}: {
  readonly method: PaymentMethod;
  readonly kind: RecurringKind | null;
}): PaymentMethod => (method === 'recurrent' && kind === null ? 'cards' : method);

/**
 * What the buyer may choose from: all that the bank takes while the method is `any`, else the one
 * that is fixed.
 */
export const choices = (
  method: PaymentMethod,
  offered: readonly BuyerMethod[],
): readonly BuyerMethod[] => {
  const fixed = buyerMethod(method);
  if (fixed) return [fixed];
  return method === 'any' ? offered : [];
};
