/**
 * What a run says while it goes on, and how it is stopped: by a signal, or because it takes much
 * longer than it should.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Says what is going on, after how many seconds; throws once the run is to stop, which takes down
 * what has been started.
 */
export type Progress = (text: string) => void;

const say_ms = 5_000;

/** The processes that this one has started, where that can be known. */
const children = (): readonly number[] => {
  try {
    return readdirSync(`/proc/${process.pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${process.pid}/task/${task}/children`, 'utf8')
        .split(' ')
        .filter(Boolean)
        .map(Number),
    );
  } catch {
    return [];
  }
};

/** Ends at once, with what is still there. */
const endNow = (): never => {
  for (const pid of children()) process.kill(pid, 'SIGTERM');
  process.exit(130);
};

/** Opens it. The first signal ends the run in order, at its next word; the second at once. */
export const openProgress = (limit_min: number): { readonly progress: Progress } => {
  const began_ms = performance.now();
  let stopped: string | null = null;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => (stopped === null ? (stopped = 'stopped') : endNow()));
  const progress: Progress = (text) => {
    const passed_s = (performance.now() - began_ms) / 1_000;
    if (passed_s > limit_min * 60) stopped ??= `stopped: it takes longer than ${limit_min} minutes`;
    if (stopped !== null) throw new Error(stopped);
    console.error(`${passed_s.toFixed(0).padStart(4)} s  ${text}`);
  };
  return { progress };
};

/** Waits for the work and calls `say` every few seconds meanwhile; rejects when that throws. */
export const saying = async <Result>(
  work: Promise<Result>,
  say: () => unknown,
): Promise<Result> => {
  // When `say` throws, nobody waits for the work any more.
  work.catch(() => {});
  const settled = work.then((result) => ({ result }));
  for (;;) {
    const waiting = new AbortController();
    const first = await Promise.race([
      settled,
      sleep(say_ms, null, { signal: waiting.signal }).catch(() => null),
    ]).finally(() => waiting.abort());
    if (first !== null) return first.result;
    await say();
  }
};
