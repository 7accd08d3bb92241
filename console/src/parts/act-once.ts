/**
 * Runs actions under an idempotency key, stored by subject, action and amount until an answer
 * arrives. A second press, a reopened dialog and a reloaded page do not repeat the action.
 */
import type { Outcome } from './outcome.ts';

/** The action: its subject and amount. */
export interface KeyedAct {
  /**
   * The action with its subject, such as `refund/<id>`. It is stored in the browser, so it holds no
   * secrets.
   */
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

/** The amounts sent for this action without an answer. */
export const unansweredOf = (of: string): readonly number[] => Object.keys(keysOf(of)).map(Number);

/** Whether this action was sent without an answer. */
export const isUnanswered = ({ of, amount }: KeyedAct): boolean => String(amount) in keysOf(of);

/** Sends the action under its key, and removes the key with the answer. */
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
