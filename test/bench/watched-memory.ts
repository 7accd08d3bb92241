/**
 * The memory of everything that a service consists of: its own processes by their names, and the
 * PostgreSQL and Redis that were started for it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { residentMemory_MiB } from './cpu.ts';

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It has ended since.
    return '';
  }
};

const parents = (): ReadonlyMap<number, number> => {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return new Map(
    pids.map((pid) => [
      Number(pid),
      Number(/^PPid:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0),
    ]),
  );
};

/** Processes that these have started, and those that they have, and so on. */
const descendants = (roots: readonly number[]): readonly number[] => {
  const found = new Set(roots);
  const all = [...parents()];
  for (let before = 0; before < found.size;) {
    before = found.size;
    for (const [pid, parent] of all) if (found.has(parent)) found.add(pid);
  }
  return [...found];
};

/** Memory that several processes hold together, what they share counted once, in MiB. */
const sharedMemory_MiB = (pids: readonly number[]): number =>
  pids.reduce(
    (sum, pid) =>
      sum + Number(/^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) / 1_024,
    0,
  );

const stores = { postgres: 'PostgreSQL', 'redis-server': 'Redis' } as const;

/** MiB by name; nothing where it cannot be known. */
export const memoryByName = (
  services: readonly { readonly name: string; readonly pid: number }[],
): ReadonlyMap<string, number> => {
  const found = new Map<string, number>();
  for (const { name, pid } of services) {
    const resident_MiB = residentMemory_MiB(pid);
    if (resident_MiB !== null) found.set(name, resident_MiB);
  }
  if (found.size === 0) return found;
  const below = descendants([process.pid]).map((pid) => ({
    pid,
    program: read(`/proc/${pid}/comm`).trim(),
  }));
  for (const [program, name] of Object.entries(stores)) {
    const its = below.filter((one) => one.program === program).map(({ pid }) => pid);
    if (its.length > 0) found.set(name, sharedMemory_MiB(its));
  }
  return found;
};
