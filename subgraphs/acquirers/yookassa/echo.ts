/**
 * YooKassa's objects in the form for comparing every bank's answers: the order and its echo must be
 * equal.
 */
import type { Runner } from '../../platform/database/statement.ts';
import { openCheckEcho as openForBank, type Ordered } from '../check-echo.ts';
import { isSameAmount, type WireAmount } from './amount.ts';

export type { Ordered } from '../check-echo.ts';

interface Echo {
  readonly id: string;
  readonly amount: WireAmount;
  readonly operationId: string | null;
}

/**
 * Whether an object belongs to an order. When it does not, an alert is raised, once for the
 * operation.
 */
export type CheckEcho = (ordered: Ordered, echo: Echo) => Promise<boolean>;

/** Opens the comparison, which raises its alerts on `pool`. */
export const openCheckEcho = (pool: Runner): CheckEcho => {
  const check = openForBank(pool, 'YooKassa');
  return (ordered, { id, operationId, amount }) => {
    const isSame = isSameAmount(amount, ordered.amount, ordered.currency);
    return check(ordered, {
      id,
      operationId,
      amount: `${amount.value} ${amount.currency}`,
      isSame,
    });
  };
};
