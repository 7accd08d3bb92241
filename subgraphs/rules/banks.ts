/**
 * Banks. Routes: in live mode the routes of a shop decide which connector serves an operation and
 * method; in test mode the simulator does (docs/contract.md#test-and-live).
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

/** Calls are counted by so many minutes. */
export const healthBucket_min = 5;

/** Of each process's calls in these minutes, the durations of the last answers are kept. */
export const durationsKept = 100;

/**
 * What a breaker does: it lets calls through, withholds them, or lets the next one through as a
 * trial.
 */
export type BreakerState = 'closed' | 'open' | 'half_open';
