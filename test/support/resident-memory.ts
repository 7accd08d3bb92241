import { readFileSync } from 'node:fs';

/** Resident memory of a process in MiB; null where it cannot be known: Linux alone shows it. */
export const residentMemory_MiB = (pid: number): number | null => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) / 1_024;
  } catch {
    return null;
  }
};
