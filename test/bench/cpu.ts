/**
 * CPU time and memory of processes, as Linux shows them under /proc. Elsewhere nothing is known,
 * and what depends on it is left out.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const read = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
};

const foldersIn = (path: string): readonly string[] => {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
};

/** Nanoseconds that the threads of a process have run; null when it cannot be known. */
const processCpu_ns = (pid: number): number | null => {
  const threads = foldersIn(`/proc/${pid}/task`).map((thread) =>
    read(`/proc/${pid}/task/${thread}/schedstat`),
  );
  const known = threads.filter((text) => text !== null);
  return known.length === 0
    ? null
    : known.reduce((sum, text) => sum + Number(text.split(' ', 1)[0]), 0);
};

/**
 * The fields of /proc/<pid>/stat after the process' name, which may hold anything, brackets too.
 */
const statOf = (pid: number | string): readonly string[] =>
  read(`/proc/${pid}/stat`)?.split(') ').at(-1)?.split(' ') ?? [];

const parentOf = (pid: string): number => Number(statOf(pid)[1] ?? 0);

/** The length of Linux' clock ticks, which are the same on every machine that Node runs on. */
const tick_ns = 10_000_000;

/** Nanoseconds that children which have ended had run. */
const endedChildren_ns = (pid: number): number => {
  const fields = statOf(pid);
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) * tick_ns;
};

/** Reads the CPU time of a group of processes, in microseconds; null when it cannot be known. */
export type CpuClock = () => number | null;

/** The clock of one process. */
export const cpuOfProcess = (pid: number): CpuClock => {
  return () => {
    const cpu_ns = processCpu_ns(pid);
    return cpu_ns === null ? null : cpu_ns / 1_000;
  };
};

/**
 * The clock of a PostgreSQL server: the postmaster of a data directory and all that it has started.
 */
export const cpuOfPostgres = (dataDir: string): CpuClock =>
  cpuOfPostmaster(Number.parseInt(read(join(dataDir, 'postgres', 'postmaster.pid')) ?? ''));

/** The clock of a PostgreSQL server by its first process, and of all that it has started. */
export const cpuOfPostmaster = (postmaster: number): CpuClock => {
  return () => {
    const children = foldersIn('/proc').filter(
      (name) => /^\d+$/.test(name) && parentOf(name) === postmaster,
    );
    const times = [postmaster, ...children.map(Number)].map((pid) => processCpu_ns(pid) ?? 0);
    const cpu_ns = times.reduce((sum, time) => sum + time, endedChildren_ns(postmaster));
    return cpu_ns === 0 ? null : cpu_ns / 1_000;
  };
};

/** Resident memory of a process in MiB; null when it cannot be known. */
export const residentMemory_MiB = (pid: number): number | null => {
  const kibibytes = /^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1];
  return kibibytes === undefined ? null : Number(kibibytes) / 1_024;
};
