/** What an assistant may still do today: how often, and with how much money. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { formatMoney } from '../../money.ts';
import { settingsFolder, writePrivate, type Environment } from '../settings.ts';

/** The limits: calls, and minor units of each currency by itself. */
export interface Limits {
  readonly amountOfCall: number;
  readonly amountOfDay: number;
  readonly callsOfDay: number;
}

interface Spent {
  readonly day: string;
  readonly calls: number;
  readonly amounts: Readonly<Record<string, number>>;
}

/** Money of one currency, in minor units. */
export interface Sum {
  readonly amount: number;
  readonly currency: string;
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

/** What stands in the way of a call; null when nothing does. */
const hindrance = (
  limits: Limits,
  { calls, amounts }: Spent,
  { amount, currency }: Sum,
): string | null => {
  const money = (of: number): string => formatMoney(of, currency, 'en');
  const used = amounts[currency] ?? 0;
  if (amount > limits.amountOfCall)
    return `${money(amount)} is above the ${money(limits.amountOfCall)} of one call (--max-amount)`;
  if (used + amount > limits.amountOfDay)
    return `${money(used)} of ${money(limits.amountOfDay)} are used today (--max-day)`;
  if (calls >= limits.callsOfDay)
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
    const nothing = { day, calls: 0, amounts: {} };
    try {
      const spent = JSON.parse(readFileSync(path, 'utf8')) as Spent;
      return spent.day === day && 'amounts' in spent ? spent : nothing;
    } catch {
      return nothing;
    }
  };
  return {
    take: (sum: Sum): string | null =>
      alone(path, () => {
        const spent = read();
        const why = hindrance(limits, spent, sum);
        const total = (spent.amounts[sum.currency] ?? 0) + sum.amount;
        const amounts = { ...spent.amounts, [sum.currency]: total };
        const next = { day: spent.day, calls: spent.calls + 1, amounts };
        if (why === null) writePrivate(path, `${JSON.stringify(next)}\n`);
        return why;
      }),
  };
};
