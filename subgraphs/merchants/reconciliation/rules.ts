/**
 * Decides what is wrong with a settlement report line. A line matches our operation by its id, or
 * by the bank's reference when it has no id. Only the first difference is reported.
 */

/** A line, and how often its operation occurred earlier in the report. */
export interface ComparedLine {
  readonly kind: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly status: string;
  /** 1 for the first line of its operation. */
  readonly copy: number;
}

/** Our operation as a report would have it. */
export interface OurOperation {
  readonly amount: bigint;
  readonly currency: string;
  readonly status: string;
}

/** A difference: its code, and its description for a person. */
interface Wrong {
  readonly wrong:
    | 'duplicate'
    | 'missing_here'
    | 'amount_differs'
    | 'currency_differs'
    | 'status_differs';
  readonly detail: string;
}

/**
 * What is wrong with a line; null when nothing is. `ours` is null when there is no such operation.
 */
export const wrongOf = (line: ComparedLine, ours: OurOperation | null): Wrong | null => {
  const { kind, amount, currency, status, copy } = line;
  if (copy > 1)
    return { wrong: 'duplicate', detail: `the report contains the ${kind} ${copy} times` };
  if (!ours)
    return {
      wrong: 'missing_here',
      detail: `the report contains a ${kind} of ${amount} ${currency} that is unknown here`,
    };
  const money = `the ${kind} is of ${amount} ${currency} at the bank and of ${ours.amount} ${ours.currency} here`;
  if (ours.amount !== amount) return { wrong: 'amount_differs', detail: money };
  if (ours.currency !== currency) return { wrong: 'currency_differs', detail: money };
  if (ours.status !== status)
    return {
      wrong: 'status_differs',
      detail: `the ${kind} is ${status} at the bank and ${ours.status} here`,
    };
  return null;
};
