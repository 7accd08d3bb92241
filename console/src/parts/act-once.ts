/**
 * Acts under an idempotency key, which is kept by subject, act and amount until an answer has come:
 * a second press, a reopened dialog and a page loaded anew do not do it twice.
 */
import type { Outcome } from './outcome.ts';

/** What is done: to which subject, and for how much. */
export interface KeyedAct {
  /** The act with its subject, such as `refund/<id>`. Nothing secret: it is kept in the browser. */
  readonly of: string;
  readonly amount: number;
}

type Keys = Readonly<Record<string, string>>;

const nameOf = (of: string): string => `console.act.${of}`;

const keysOf = (of: string): Keys => {
  try {
    return JSON.parse(sessionStorage.getItem(nameOf(of)) ?? '{}') as Keys;
  } catch {
    return {};
  }
};

const keep = (of: string, keys: Keys): void => {
  if (Object.keys(keys).length === 0) sessionStorage.removeItem(nameOf(of));
  else sessionStorage.setItem(nameOf(of), JSON.stringify(keys));
};

/** The amounts that were sent for such an act without an answer. */
export const unansweredOf = (of: string): readonly number[] => Object.keys(keysOf(of)).map(Number);

/** Whether this very act was sent, and no answer has come. */
export const isUnanswered = ({ of, amount }: KeyedAct): boolean => String(amount) in keysOf(of);

/** Sends the act under its key, and forgets the key with the answer. */
export const actOnce = async (
  { of, amount }: KeyedAct,
  send: (key: string) => Promise<Outcome>,
): Promise<Outcome> => {
  const key = keysOf(of)[String(amount)] ?? `console-${crypto.randomUUID()}`;
  keep(of, { ...keysOf(of), [amount]: key });
  const outcome = await send(key);
  if (!('unknown' in outcome)) {
    const { [String(amount)]: _, ...others } = keysOf(of);
    keep(of, others);
  }
  return outcome;
};
