/**
 * How many reads that look for their rows one by one (decision A-230) run at the same time for one
 * merchant: so many that they leave the pool's other connections to everybody else. Further ones
 * wait without a connection, first come, first served.
 */
import type { Runner } from './statement.ts';

/** Below DATABASE_POOL. A merchant never waits for another. */
export const walksAtOnce_max = 2;

interface Turns {
  running: number;
  readonly waiting: (() => void)[];
}

/** By runner, and by the merchant; of all merchants under an empty name. */
const turnsOf = new WeakMap<Runner, Map<string, Turns>>();

const knownTurns = (runner: Runner): Map<string, Turns> => {
  const known = turnsOf.get(runner) ?? new Map<string, Turns>();
  turnsOf.set(runner, known);
  return known;
};

/** Runs a read when it is the merchant's turn; `merchantId` null: a read of all merchants. */
export const inTurn = async <Result>(
  runner: Runner,
  merchantId: string | null,
  read: () => Promise<Result>,
): Promise<Result> => {
  const name = merchantId ?? '';
  const all = knownTurns(runner);
  const turns = all.get(name) ?? { running: 0, waiting: [] };
  all.set(name, turns);
  // Who leaves passes the place on, so that nobody takes it from one who waits.
  if (turns.running < walksAtOnce_max) turns.running += 1;
  else await new Promise<void>((resolve) => turns.waiting.push(resolve));
  try {
    return await read();
  } finally {
    const next = turns.waiting.shift();
    if (next) next();
    else if (--turns.running === 0) all.delete(name);
  }
};
