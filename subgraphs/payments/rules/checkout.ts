/** What the hosted page offers. Contract "States and transitions": while the method is `any` the buyer chooses; decision D-30: a tester may re-plan. */
import { buyerMethods, type BuyerMethod } from '../../kernel/rules/buyer.ts';
import type { PaymentMethod } from './payment.ts';

/** The method as one that a buyer pays with; null for `any` (not chosen yet) and `recurrent` (no page). */
export const buyerMethod = (method: PaymentMethod): BuyerMethod | null => buyerMethods.find((candidate) => candidate === method) ?? null;

/** What the buyer may choose from: all that the bank takes while the method is `any`, else the one that is fixed. */
export const choices = (method: PaymentMethod, offered: readonly BuyerMethod[]): readonly BuyerMethod[] => {
  const fixed = buyerMethod(method);
  if (fixed) return [fixed];
  return method === 'any' ? offered : [];
};
