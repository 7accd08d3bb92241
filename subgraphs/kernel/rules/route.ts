/**
 * Routes to banks. Contract "Modes" and "Errors" (`route_not_configured`): in live mode a shop's
 * routes decide, for each operation and method, which connector serves it; in test mode the
 * simulator always does.
 */
const bankOperations = ['payment', 'refund', 'payout', 'recurrent'] as const;
export type BankOperation = (typeof bankOperations)[number];

const routeMethods = ['sbp', 'cards', 'tpay', 'sberpay', 'card', 'account'] as const;
export type RouteMethod = (typeof routeMethods)[number];

const buyerPays = ['sbp', 'cards', 'tpay', 'sberpay'] as const satisfies readonly RouteMethod[];

/** The methods of each operation: a payout goes by SBP, to a card or to an account. */
export const methodsOf: Readonly<Record<BankOperation, readonly RouteMethod[]>> = {
  payment: buyerPays,
  refund: buyerPays,
  payout: ['sbp', 'card', 'account'],
  recurrent: buyerPays,
};
