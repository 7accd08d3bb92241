/**
 * YooKassa's objects in the comparison that every bank's are in: what is ordered and what is
 * repeated must be the same.
 */
import type { Runner } from '../../database/statement.ts';
import { openCheckEcho as openForBank, type Ordered } from '../check-echo.ts';
import { isSameAmount, type WireAmount } from './amount.ts';

export type { Ordered } from '../check-echo.ts';

interface Echo {
  readonly id: string;
  readonly amount: WireAmount;
  readonly operationId: string | null;
}

/**
 * Whether an object is that of an order. When it is not, an alert is raised, once for the
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
