/**
 * A server as a subject of rounds: loaded by the load generator, with the CPU time that it took.
 */
import { cpuOfProcess, type CpuClock } from './cpu.ts';
import type { Load, LoadResult } from './load.ts';
import type { Sample, Subject } from './rounds.ts';

export interface ServerSubject {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  /** What is sent to it, over and over. */
  readonly requests: readonly string[];
  /** PostgreSQL behind it; null without one. */
  readonly postgres: CpuClock | null;
}

/** Runs the work between two looks at the clocks; gives what each has counted per request. */
export const withClocks = async <Result extends Pick<LoadResult, 'answered'>>(
  clocks: readonly (CpuClock | null)[],
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly each_us: readonly (number | null)[] }> => {
  const before = clocks.map((clock) => clock?.() ?? null);
  const result = await work();
  const each_us = clocks.map((clock, index) => {
    const [start, end] = [before[index] ?? null, clock?.() ?? null];
    return start === null || end === null ? null : (end - start) / result.answered;
  });
  return { result, each_us };
};

/** A subject out of a server that runs. */
export const serverSubject = (
  { name, url, pid, requests, postgres }: ServerSubject,
  load: Load,
): Subject => ({
  name,
  measure: async ({
    connections,
    duration_ms,
    requests_max = Number.MAX_SAFE_INTEGER,
  }): Promise<Sample> => {
    const plan = { url, requests, connections, duration_ms, requests_max };
    const { result, each_us } = await withClocks([cpuOfProcess(pid), postgres], () =>
      load.run(plan),
    );
    const [server_us = null, postgres_us = null] = each_us;
    return {
      perSecond: (result.answered * 1_000) / result.elapsed_ms,
      p50_us: result.p50_us,
      server_us,
      postgres_us,
    };
  },
});
