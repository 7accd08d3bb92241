/**
 * Works the jobs of one queue, and turns what a run came to into BullMQ's state: here and nowhere
 * else.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  type BackendFactory,
  DelayedError,
  type IQueueBackend,
  type Job as QueuedJob,
  UnrecoverableError,
  Worker,
} from 'bullmq';
import type { Logger } from '../service/tracing/telemetry.ts';
import { continued } from '../service/tracing/tracing.ts';
import { type JobPayload, openReady } from './backend.ts';
import type { Outage } from './outage.ts';
import { done, type Job, type QueueName, runJob, type RunOutcome } from './run-job.ts';

export interface WorkerOptions {
  readonly queue: QueueName;
  /** All jobs of the queue: a worker is handed whatever is next. */
  readonly jobs: readonly Job[];
  /** Jobs at the same time. */
  readonly concurrency: number;
  /** How long a killed process keeps its jobs before another takes them. */
  readonly lock_ms: number;
  readonly factory: BackendFactory;
  readonly outage: Outage;
  readonly log: Logger;
}

const retryWhenLost_ms = 1_000;
/** How many times a job may lose its process before it is suspected of killing them. */
const stalls_max = 5;
const closePatience_ms = 1_000;
const idlePoll_s = 10;
const idlePoll_max_s = 10;

/**
 * Connects, and then takes jobs. The worker is closed with `closeWorker`. Rejects as `openReady`.
 */
export const openWorker = async (options: WorkerOptions): Promise<PatientWorker> => {
  const { queue, log, outage, concurrency, lock_ms } = options;
  const run = runOf(options);
  const settings = {
    connection: {},
    concurrency,
    lockDuration: lock_ms,
    stalledInterval: lock_ms / 2,
    maxStalledCount: stalls_max,
    runRetryDelay: retryWhenLost_ms,
    drainDelay: idlePoll_s,
    autorun: false,
  };
  const connect = (): PatientWorker => {
    const worker: PatientWorker = new PatientWorker(
      queue,
      (queued, token) => worker.busyWith(async () => settle(await run(queued), queued, token)),
      settings,
      options.factory,
    );
    worker.on('error', (error) => {
      if (isAboutOneJob(error))
        log.warn(
          { queue, err: error },
          'the end of a run could not be marked; the job may run again',
        );
      else outage.began(error);
    });
    return worker.on('active', () => outage.ended());
  };
  const worker = await openReady(connect);
  worker.begin();
  return worker;
};

/**
 * Stops taking jobs and waits for those that run, until `deadline` fulfils: false when it had to
 * give up. The locks of what still runs then run out, and others take it.
 */
export const closeWorker = async (
  worker: PatientWorker,
  deadline: Promise<unknown>,
): Promise<boolean> => {
  // On a cluster BullMQ may connect anew in the middle of pausing, and wait for ever for an end of
  // its connection: the end of the work is what counts.
  const ended = worker.ended.then(() => delay(closePatience_ms, undefined, { ref: false }));
  const paused = Promise.race([worker.pause(), ended]).then(() => true);
  const inTime = await Promise.race([paused, deadline.then(() => false)]);
  // Forced, because a worker that has nothing more to wait for closes the same either way, and one
  // that has lets go.
  await Promise.race([worker.close(true), delay(closePatience_ms, undefined, { ref: false })]);
  return inTime;
};

/** BullMQ's worker, patient with a store that is in trouble. */
export class PatientWorker extends Worker<JobPayload, void, string, IQueueBackend> {
  /** Fulfils when no job runs any more and none will be taken. */
  ended: Promise<unknown> = Promise.resolve();
  #running = 0;
  #lastSignAt_ms = performance.now();

  /** Takes jobs until it is paused or closed. */
  begin(): void {
    this.ended = this.run().catch((error: unknown) =>
      this.emit('error', error instanceof Error ? error : new Error(String(error))),
    );
  }

  /** Runs a job, counted among those that run. */
  async busyWith(job: () => Promise<void>): Promise<void> {
    this.#running += 1;
    try {
      await job();
    } finally {
      this.#running -= 1;
      this.#lastSignAt_ms = performance.now();
    }
  }

  /** How long it has room for a job and its store has answered nothing, in milliseconds. */
  silentFor_ms(): number {
    return this.#running < this.concurrency ? performance.now() - this.#lastSignAt_ms : 0;
  }

  /**
   * Without this, BullMQ's PostgreSQL backend may wait an hour for a notification that was sent
   * while nobody listened.
   */
  override get maximumBlockTimeout(): number {
    return idlePoll_max_s;
  }

  /**
   * BullMQ asks a store that refuses (Redis out of memory or read-only) for the next job again at
   * once, thousands of times a second.
   */
  protected override async moveToActive(
    token: string,
    name?: string,
  ): Promise<QueuedJob<JobPayload, void>> {
    try {
      const job = await super.moveToActive(token, name);
      this.#lastSignAt_ms = performance.now();
      return job;
    } catch (error) {
      await delay(retryWhenLost_ms);
      throw error;
    }
  }
}

/**
 * BullMQ's own refusals carry a negative number as code: a lock that ran out, a job that is gone.
 */
const isAboutOneJob = (error: Error): boolean =>
  ('code' in error && typeof error.code === 'number') ||
  error.message.startsWith('could not renew lock');

const runOf = ({ jobs, log }: WorkerOptions): ((queued: QueuedJob) => Promise<RunOutcome>) => {
  const byName = new Map(jobs.map((job) => [job.name, job]));
  const turnsNow = new Set<string>();
  return async (queued) => {
    const job = byName.get(queued.name);
    if (!job) {
      // A newer version may have added it and may work it; this process does not know how.
      log.warn({ job: queued.name }, 'a job that this process does not know');
      return { outcome: 'threw' };
    }
    const start = { kind: 'consumer', name: `job ${job.name}` } as const;
    if (!queued.repeatJobKey)
      return continued(queued.opts.telemetry?.metadata, start, () => runJob(job, queued.data, log));
    // A turn that outlasts its interval must not fill the queue with itself.
    if (turnsNow.has(job.name)) return done;
    turnsNow.add(job.name);
    return runTurn(job, queued, log).finally(() => turnsNow.delete(job.name));
  };
};

/**
 * One turn of a schedule. A retry that comes later than the next turn is left to that: it would be
 * a second chain of runs beside the schedule's own.
 */
const runTurn = async (job: Job, { opts }: QueuedJob, log: Logger): Promise<RunOutcome> => {
  const result = await runJob(job, null, log);
  const nextTurn_ms = (opts.timestamp ?? 0) + (opts.delay ?? 0) + (job.every_ms ?? Infinity);
  return result.outcome === 'retry' && Date.now() + result.in_ms >= nextTurn_ms ? done : result;
};

/** Error texts stay in our log: what is thrown at BullMQ is stored beside the job. */
const settle = async (
  result: RunOutcome,
  queued: QueuedJob,
  token: string | undefined,
): Promise<void> => {
  switch (result.outcome) {
    case 'done':
      return;
    case 'retry':
      await queued.moveToDelayed(Date.now() + result.in_ms, token);
      throw new DelayedError();
    case 'give_up':
      throw new UnrecoverableError('given up');
    case 'threw':
      throw new Error('threw');
  }
};
