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
  readonly concurrency: Readonly<Record<QueueName, number>>;
  /** Gives a run that cannot go on here to the store. Never rejects. */
  readonly store: (run: LocalRun) => Promise<void>;
}

/** What waits longer is given to the store. */
const wait_max_ms = 60_000;
const retry_ms = 1_000;
const tries_max = 8;

class RunsHere implements LocalRuns {
  readonly #options: LocalRunsOptions;
  readonly #jobs = new Map<string, Job>();
  readonly #closing = new AbortController();
  readonly #running: Record<QueueName, number> = { webhooks: 0, bank: 0, schedules: 0 };
  readonly #taken = new Map<LocalRun, Promise<void>>();
  readonly #shared = new Map<string, 'waits' | 'runs' | 'runs again'>();

  constructor(options: LocalRunsOptions) {
    this.#options = options;
  }

  work(jobs: readonly Job[]): void {
    for (const job of jobs) this.#jobs.set(job.name, job);
  }

  take(run: LocalRun): boolean {
    const job = this.#jobs.get(run.job);
    if (!job || this.#closing.signal.aborted || run.delay_ms > wait_max_ms) return false;
    const state = run.id === null ? undefined : this.#shared.get(run.id);
    if (run.id !== null && state !== undefined) {
      if (state === 'runs') this.#shared.set(run.id, 'runs again');
      return true;
    }
    if (run.delay_ms === 0 && !this.#hasRoom(job)) return false;
    this.#mark(run, 'waits');
    const end = this.#runUntilOver(job, run).finally(() => {
      this.#taken.delete(run);
      if (run.id !== null) this.#shared.delete(run.id);
    });
    this.#taken.set(run, end);
    return true;
  }

  async close(deadline: Promise<unknown>): Promise<boolean> {
    this.#closing.abort();
    const ends = Promise.all(this.#taken.values()).then(() => true);
    const inTime = await Promise.race([ends, deadline.then(() => false)]);
    const left = inTime ? [] : [...this.#taken.keys()];
    await Promise.all(left.map((run) => this.#options.store({ ...run, delay_ms: 0 })));
    return inTime;
  }

  #hasRoom({ queue }: Job): boolean {
    return this.#running[queue] < this.#options.concurrency[queue];
  }

  #mark({ id }: LocalRun, state: 'waits' | 'runs'): void {
    if (id !== null) this.#shared.set(id, state);
  }

  async #runUntilOver(job: Job, run: LocalRun): Promise<void> {
    const { signal } = this.#closing;
    let wait_ms: number | null = run.delay_ms;
    for (let tries = 1; wait_ms !== null; tries += 1) {
      const at_ms = performance.now() + wait_ms;
      if (wait_ms > 0) await delay(wait_ms, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted || !this.#hasRoom(job)) {
        const left_ms = Math.max(0, Math.ceil(at_ms - performance.now()));
        return this.#options.store({ ...run, delay_ms: left_ms });
      }
      wait_ms = await this.#runOnce(job, run, tries);
    }
  }

  /** Runs a job once; gives how long to wait before the next run, or null when it is over. */
  async #runOnce(job: Job, run: LocalRun, tries: number): Promise<number | null> {
    const { log } = this.#options;
    const start = { kind: 'consumer', name: `job ${job.name}` } as const;
    this.#running[job.queue] += 1;
    this.#mark(run, 'runs');
    const result = await continued(run.traceparent, start, () => runJob(job, run.payload, log));
    this.#running[job.queue] -= 1;
    const again = run.id !== null && this.#shared.get(run.id) === 'runs again';
    this.#mark(run, 'waits');
    if (result.outcome === 'retry') return result.in_ms;
    // What a sweep has left, the next one finds.
    if (result.outcome === 'threw' && tries < tries_max && job.due === undefined)
      return retry_ms * 2 ** (tries - 1) * (0.5 + Math.random() / 2);
    return again ? 0 : null;
  }
}

/** Nothing is run before `work`. */
export const openLocalRuns = (options: LocalRunsOptions): LocalRuns => new RunsHere(options);
