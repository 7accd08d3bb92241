/**
 * What each test file costs: CPU time of its process, of all that it started and waited for, and of
 * its browsers, whose processes nothing waits for. A run takes as long as its CPU time divided by
 * the cores.
 */
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';

/** Ticks a second of the times in /proc, on every Linux that Node runs on. */
const ticks = 100;

interface ProcessTimes {
  readonly session: number;
  /** Seconds of CPU of the process and of its children that it has waited for. */
  readonly cpu_s: number;
}

const timesOf = (pid: number | 'self'): ProcessTimes | null => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, which may have spaces, ends with the last bracket.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const cpu = fields.slice(11, 15).reduce((sum, value) => sum + Number(value), 0);
    return { session: Number(fields[3]), cpu_s: cpu / ticks };
  } catch {
    return null;
  }
};

/** Seconds of CPU of all processes of a session. A browser started by Playwright has its own. */
const cpuOfSession = (session: number): number =>
  (existsSync('/proc/self') ? readdirSync('/proc') : [])
    .filter((name) => /^\d+$/.test(name))
    .map((name) => timesOf(Number(name)))
    .reduce((sum, times) => sum + (times?.session === session ? times.cpu_s : 0), 0);

const browsers = new Set<number>();
let endedBrowsers_s = 0;

/**
 * Counts the CPU of a browser, given by the id of its first process. Gives what must be called just
 * before the browser is closed: what the first process has taken then counts as this one's child.
 */
export const countBrowser = (pid: number): (() => void) => {
  const session = timesOf(pid)?.session ?? 0;
  browsers.add(session);
  return () => {
    if (browsers.delete(session))
      endedBrowsers_s += cpuOfSession(session) - (timesOf(pid)?.cpu_s ?? 0);
  };
};

const cpuOfBrowsers = (): number =>
  [...browsers].reduce((sum, session) => sum + cpuOfSession(session), endedBrowsers_s);

/**
 * Seconds of CPU that this process, its ended children and its browsers have taken; of the process
 * alone where there is no /proc.
 */
export const cpuUntilNow = (): number => {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const alone_s = (userCPUTime + systemCPUTime) / 1_000_000;
  return (timesOf('self')?.cpu_s ?? alone_s) + cpuOfBrowsers();
};

export interface Cost {
  readonly file: string;
  readonly took_ms: number;
  readonly cpu_s: number;
}

const keep = (line: object): void => {
  const costs = process.env['TEST_COSTS'];
  if (costs) appendFileSync(costs, `${JSON.stringify(line)}\n`);
};

/** Keeps what a file has cost in the file TEST_COSTS. */
export const keepCost = (cost: Cost): void => keep(cost);

/** At the end of a process: keeps what its browsers have cost, which its parent cannot see. */
export const keepBrowsersCost = (): void => keep({ browsers_s: cpuOfBrowsers() });

/** All that was kept. */
export const readCosts = (
  costs: string,
): { readonly files: readonly Cost[]; readonly browsers_s: number } => {
  const lines: readonly (Partial<Cost> & { readonly browsers_s?: number })[] = (
    existsSync(costs) ? readFileSync(costs, 'utf8') : ''
  )
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  return {
    files: lines.filter((line): line is Cost => line.file !== undefined),
    browsers_s: lines.reduce((sum, { browsers_s = 0 }) => sum + browsers_s, 0),
  };
};
