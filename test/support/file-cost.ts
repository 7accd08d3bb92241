/**
 * What each test file costs: its wall time, and the CPU time of its process and of all that it
 * started and waited for. A run is as long as the CPU time of its files divided by the cores, so
 * that is what is worth looking at.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** Ticks a second of the times in /proc, on every Linux that Node runs on. */
const ticks = 100;

/**
 * Seconds of CPU that this process and its ended children have taken; without the children where
 * there is no /proc.
 */
const cpuOfProcess = (): number => {
  if (existsSync('/proc/self/stat')) {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // The name of the program, which may have spaces, ends with the last bracket.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, value) => sum + Number(value), 0) / ticks;
  }
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  return (userCPUTime + systemCPUTime) / 1_000_000;
};

/** At the end of a test file's process: keeps what it has cost in the file TEST_COSTS. */
export const keepCost = (file: string): void => {
  const costs = process.env['TEST_COSTS'];
  if (costs) appendFileSync(costs, `${cpuOfProcess().toFixed(2)} ${file}\n`);
};

/** Seconds of CPU by file, of all that was kept. */
export const readCosts = (costs: string): ReadonlyMap<string, number> =>
  new Map(
    (existsSync(costs) ? readFileSync(costs, 'utf8') : '')
      .split('\n')
      .filter(Boolean)
      .map((line) => [line.slice(line.indexOf(' ') + 1), Number.parseFloat(line)]),
  );
