/**
 * The operation that a bank echoes must equal the order. A difference stops the operation: nothing
 * moves, and operators get an alert (issue "Integrity").
 */
import { raiseAlert } from '../platform/alerts/alerts.ts';
import type { Runner } from '../platform/database/statement.ts';
import type { AlertFields } from '../rules/alert.ts';
import type { MinorUnits } from '../rules/money.ts';
import type { Question } from './bank.ts';

export interface Ordered extends Question {
  readonly amount: MinorUnits;
  readonly currency: string;
}

/** What the bank repeats. */
export interface Echo {
  /** Its own reference. */
  readonly id: string;
  /** Our operation's id, as the bank repeats it. */
  readonly operationId: string | null;
  /** The amount in the bank's own notation, for people. */
  readonly amount: string;
  /** Whether that is the amount and the currency that were ordered. */
  readonly isSame: boolean;
}

/** Raises the alert of an operation about which a person must find out, once for it. */
export const raiseDiffers = (
  pool: Runner,
  { merchantId, operationId, amount, currency, now }: Ordered,
  detail: string,
  fields: AlertFields,
): Promise<unknown> =>
  raiseAlert(pool, {
    kind: 'bank_echo_differs',
    merchantId,
    shopId: null,
    mode: 'live',
    subjectId: operationId,
    detail,
    fields: { ...fields, amount: String(amount), currency },
    at: now,
  });

/** Whether an object belongs to an order; if not, an alert is raised, once for the operation. */
export type CheckEcho = (ordered: Ordered, echo: Echo) => Promise<boolean>;

/** Opens the comparison for a bank, which raises its alerts on `pool`. */
export const openCheckEcho =
  (pool: Runner, bankName: string): CheckEcho =>
  async (ordered, echo) => {
    const { operationId, amount, currency } = ordered;
    if (echo.operationId === operationId && echo.isSame) return true;
    const detail = `${bankName}'s ${echo.id} is ${echo.amount} for ${echo.operationId ?? 'no operation'}; ordered were ${amount} minor units of ${currency} for ${operationId}. Nothing was moved: find out which is right there`;
    const repeated = { bank: bankName, bank_operation: echo.id, bank_amount: echo.amount };
    await raiseDiffers(pool, ordered, detail, repeated);
    return false;
  };
