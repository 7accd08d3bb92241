/**
 * What the bank repeats of an operation must be what was ordered. A difference stops the operation: nothing moves, and operators are told
 * (issue "Integrity").
 */
import { raiseAlert } from '../../alerts/raise-alert.ts';
import type { Runner } from '../../database/statement.ts';
import type { MinorUnits } from '../../rules/money.ts';
import { isSameAmount, type WireAmount } from './amount.ts';

/** What was ordered. */
export interface Ordered {
  readonly merchantId: string;
  readonly operationId: string;
  readonly amount: MinorUnits;
  readonly currency: string;
  readonly now: Temporal.Instant;
}

interface Echo {
  readonly id: string;
  readonly amount: WireAmount;
  readonly operationId: string | null;
}

/** Whether an object is that of an order. When it is not, an alert is raised, once for the operation. */
export type CheckEcho = (ordered: Ordered, told: Echo) => Promise<boolean>;

/** Opens the comparison, which raises its alerts on `pool`. */
export const openCheckEcho =
  (pool: Runner): CheckEcho =>
  async ({ merchantId, operationId, amount, currency, now }, told) => {
    if (told.operationId === operationId && isSameAmount(told.amount, amount, currency)) return true;
    const detail = `YooKassa's ${told.id} is ${told.amount.value} ${told.amount.currency} for ${told.operationId ?? 'no operation'}; ordered were ${amount} minor units of ${currency} for ${operationId}. Nothing was moved: find out which is right there`;
    await raiseAlert(pool, { kind: 'bank_echo_differs', merchantId, shopId: null, mode: 'live', subjectId: operationId, detail, at: now });
    return false;
  };
