/**
 * Jobs that the process which adds them runs itself: without a statement of the store, and without
 * a trace in it. What is lost with the process, its rows state and a sweep finds.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { continued } from '../service/tracing/tracing.ts';
import type { Logger } from '../service/tracing/telemetry.ts';
import type { JobPayload } from './backend.ts';
import { type Job, type QueueName, runJob } from './run-job.ts';

/** A job to be run here. */
export interface LocalRun {
  readonly job: string;
  readonly payload: JobPayload;
  readonly delay_ms: number;
  /**
   * Runs with the same one are never beside each other: one that is added while another waits is
   * that other, and one that is added while another runs follows it. Null: each is for itself.
   */
  readonly id: string | null;
  readonly traceparent?: string | undefined;
}

export interface LocalRuns {
  /** Takes a run; false when this process does not work its job, or has no room for it. */
  take(run: LocalRun): boolean;
  /** Runs these jobs from now on. */
  work(jobs: readonly Job[]): void;
  /**
   * Takes nothing more and waits for what runs until `deadline` fulfils: false when it had to give
   * up. What waits or still runs then is given to the store.
   */
  close(deadline: Promise<unknown>): Promise<boolean>;
}

interface LocalRunsOptions {
  readonly log: Logger;
  /** How many run at the same time. */
  readonly most: Readonly<Record<QueueName, number>>;
  /** Gives a run that cannot go on here to the store. Never rejects. */
  readonly store: (run: LocalRun) => Promise<void>;
}

/** What waits longer is given to the store. */
const wait_max_ms = 60_000;
const retry_ms = 1_000;
const tries_max = 8;

/** Nothing is run before `work`. */
export const openLocalRuns = ({ log, most, store }: LocalRunsOptions): LocalRuns => {
  const jobs = new Map<string, Job>();
  const closing = new AbortController();
  const running: Record<QueueName, number> = { webhooks: 0, bank: 0, schedules: 0 };
  const taken = new Map<LocalRun, Promise<void>>();
  const shared = new Map<string, 'waits' | 'runs' | 'runs again'>();

  /** Runs a job once; gives how long to wait before the next try, or null when it is over. */
  const runOnce = async (job: Job, run: LocalRun, tries: number): Promise<number | null> => {
    running[job.queue] += 1;
    if (run.id) shared.set(run.id, 'runs');
    try {
      const start = { kind: 'consumer', name: `job ${job.name}` } as const;
      const result = await continued(run.traceparent, start, () => runJob(job, run.payload, log));
      if (result.outcome === 'retry') return result.in_ms;
      // What a sweep has left, the next one finds.
      if (result.outcome === 'threw' && tries < tries_max && job.due === undefined)
        return retry_ms * 2 ** (tries - 1) * (0.5 + Math.random() / 2);
      return run.id && shared.get(run.id) === 'runs again' ? 0 : null;
    } finally {
      running[job.queue] -= 1;
      if (run.id) shared.set(run.id, 'waits');
    }
  };

  const runUntilOver = async (job: Job, run: LocalRun): Promise<void> => {
    let wait_ms: number | null = run.delay_ms;
    for (let tries = 1; wait_ms !== null; tries += 1) {
      const at_ms = performance.now() + wait_ms;
      if (wait_ms > 0)
        await delay(wait_ms, undefined, { signal: closing.signal, ref: false }).catch(() => {});
      if (closing.signal.aborted || running[job.queue] >= most[job.queue])
        return store({ ...run, delay_ms: Math.max(0, Math.ceil(at_ms - performance.now())) });
      wait_ms = await runOnce(job, run, tries);
    }
  };

  return {
    take: (run) => {
      const job = jobs.get(run.job);
      if (!job || closing.signal.aborted || run.delay_ms > wait_max_ms) return false;
      const state = run.id && shared.get(run.id);
      if (run.id && state) {
        if (state === 'runs') shared.set(run.id, 'runs again');
        return true;
      }
      if (run.delay_ms === 0 && running[job.queue] >= most[job.queue]) return false;
      if (run.id) shared.set(run.id, 'waits');
      const end = runUntilOver(job, run).finally(() => {
        taken.delete(run);
        if (run.id) shared.delete(run.id);
      });
      taken.set(run, end);
      return true;
    },
    work: (given) => given.forEach((job) => jobs.set(job.name, job)),
    close: async (deadline) => {
      closing.abort();
      const ends = Promise.all(taken.values()).then(() => true);
      const inTime = await Promise.race([ends, deadline.then(() => false)]);
      if (!inTime)
        await Promise.all([...taken.keys()].map((run) => store({ ...run, delay_ms: 0 })));
      return inTime;
    },
  };
};
