/** What an assistant may still do today: how often, and with how much money. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { formatMoney } from '../../money.ts';
import { settingsFolder, writePrivate, type Environment } from '../settings.ts';

/** The limits, in minor units and calls. */
export interface Limits {
  readonly amountOfCall: number;
  readonly amountOfDay: number;
  readonly callsOfDay: number;
}

interface Spent {
  readonly day: string;
  readonly calls: number;
  readonly amount: number;
}

const look_ms = 10;
const looks_max = 200;

/** Runs the work while no other process does; a lock that stays is of a process that was killed. */
const alone = <Result>(path: string, work: () => Result): Result => {
  const lock = `${path}.lock`;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  for (let looks = 0; ; looks++) {
    try {
      mkdirSync(lock);
      break;
    } catch {
      if (looks >= looks_max) rmSync(lock, { recursive: true, force: true });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, look_ms);
    }
  }
  try {
    return work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
};

const money = (amount: number): string => formatMoney(amount, 'RUB', 'en');

/** What stands in the way of a call; null when nothing does. */
const hindrance = (limits: Limits, spent: Spent, amount: number): string | null => {
  if (amount > limits.amountOfCall)
    return `${money(amount)} is above the ${money(limits.amountOfCall)} of one call (--max-amount)`;
  if (spent.amount + amount > limits.amountOfDay)
    return `${money(spent.amount)} of ${money(limits.amountOfDay)} are used today (--max-day)`;
  if (spent.calls >= limits.callsOfDay)
    return `all ${limits.callsOfDay} calls of today are used (--max-calls)`;
  return null;
};

/**
 * Opens the allowance of a key. `take` counts a call before it is sent, so that one whose end is
 * unknown is counted, and gives why it may not be; null when it may. The file outlives the process.
 */
export const openAllowance = (env: Environment, apiKey: string, limits: Limits) => {
  const name = createHash('sha256').update(apiKey).digest('hex').slice(0, 16);
  const path = join(settingsFolder(env), `mcp-${name}.json`);
  const read = (): Spent => {
    const day = new Date().toISOString().slice(0, 10);
    const nothing = { day, calls: 0, amount: 0 };
    try {
      const spent = JSON.parse(readFileSync(path, 'utf8')) as Spent;
      return spent.day === day ? spent : nothing;
    } catch {
      return nothing;
    }
  };
  return {
    take: (amount: number): string | null =>
      alone(path, () => {
        const spent = read();
        const why = hindrance(limits, spent, amount);
        const next = { ...spent, calls: spent.calls + 1, amount: spent.amount + amount };
        if (why === null) writePrivate(path, `${JSON.stringify(next)}\n`);
        return why;
      }),
  };
};
