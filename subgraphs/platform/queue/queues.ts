/**
 * The queues: BullMQ on Redis when there is a Redis, else on PostgreSQL. Losing every queue loses
 * nothing (docs/architecture.md#invariants).
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type DefaultJobOptions,
  DelayedError,
  type IQueueBackend,
  type Job as QueuedJob,
  Queue,
  UnrecoverableError,
  Worker,
} from 'bullmq';
import { type Logger, continued, spanned } from '../tracing/telemetry.ts';
import { type Outage, watchOutage } from '../tracing/outage.ts';
import { openPostgresStore, openRedisStore, type QueueStore } from './queue-stores.ts';
import { type Job, type QueueName, queueNames, runJob, type RunOutcome } from './run-job.ts';

/** Ids that a job needs to find its row. */
type JobPayload = Readonly<Record<string, string>>;

export interface QueuesOptions {
  /** Null: PostgreSQL. */
  readonly redisUrl: string | null;
  readonly databaseUrl: string;
  readonly log: Logger;
  /** The jobs that may be added; a job's name determines its queue. */
  readonly jobs: readonly Pick<Job, 'name' | 'queue'>[];
  /** Jobs at the same time in this process. */
  readonly concurrency?: Partial<Record<QueueName, number>>;
  /** How long a killed process holds its jobs before another process takes them. */
  readonly lock_ms?: number;
  /** How long `close` waits for running jobs. */
  readonly drain_ms?: number;
}

type StoredQueue = Queue<JobPayload, void, string, JobPayload, void, string, IQueueBackend>;
type StoredQueues = Readonly<Record<QueueName, StoredQueue>>;

const concurrencyDefault: Readonly<Record<QueueName, number>> = {
  bank: 50,
  schedules: 10,
};
const lockDefault_ms = 10_000;
const drainDefault_ms = 8_000;
const ready_max_ms = 2_000;
const close_max_ms = 1_000;
const retryWhenLost_ms = 1_000;
/** PostgreSQL takes a lock for each job of a batch. */
const batch_max = 200;
/** BullMQ's own event log is not read. */
const eventsKept = 100;
/** How many times a job may lose its process before it is suspected of killing processes. */
const stalls_max = 5;
/**
 * A store that lost its data also lost its schedules, and the sweeps that repair everything else
 * run on them.
 */
const renewSchedules_ms = 5_000;

/**
 * Finished jobs are removed at once: they have no reader, and counting them costs PostgreSQL a scan
 * each time. After a throw: 1 s, doubled each time with jitter, up to a minute; then the job is
 * given up.
 */
const jobOptions: DefaultJobOptions = {
  attempts: 8,
  backoff: { type: 'exponential', delay: 1_000, jitter: 0.5 },
  removeOnComplete: true,
  removeOnFail: true,
  stackTraceLimit: 0,
};

/**
 * Opens the queues. Rejects when their store does not answer, or has not been migrated; it waits
 * for a Redis that starts at the same time. No job runs before `work`.
 */
export const openQueues = async (options: QueuesOptions) => {
  const { log, redisUrl, databaseUrl, drain_ms = drainDefault_ms } = options;
  let schedules: Schedules | null = null;
  const outage = watchOutage('queue store', log, () => void schedules?.renew());
  const store = redisUrl
    ? await openRedisStore(redisUrl, outage)
    : openPostgresStore(databaseUrl, outage);
  const queues = await openEach(store, outage).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  const workers: Worker<JobPayload, void, string, IQueueBackend>[] = [];
  const queueOf = new Map(options.jobs.map((job) => [job.name, job.queue]));
  let closing: Promise<void> | null = null;
  const shut = async (): Promise<void> => {
    schedules?.close();
    const deadline = delay(drain_ms, false as const, { ref: false });
    const drained = await Promise.all(workers.map((worker) => drain(worker, deadline)));
    outage.silence();
    if (drained.includes(false))
      log.warn(
        { drain_ms },
        'jobs are still running at the end of the drain; other processes will take over',
      );
    await Promise.allSettled(Object.values(queues).map((queue) => queue.close()));
    await store.close();
  };
  return {
    ...openAdding(queues, queueOf, outage),
    /**
     * Works the queues of these jobs in this process and maintains their schedules. The list must
     * hold all jobs of each queue in it. Call it once.
     */
    work: async (jobs: readonly Job[]): Promise<void> => {
      for (const { name, queue } of jobs) queueOf.set(name, queue);
      for (const queue of queueNames) {
        const its = jobs.filter((job) => job.queue === queue);
        if (its.length > 0) workers.push(await startWorker(queue, its, options, store, outage));
      }
      schedules = keepSchedules(queues, jobs, outage);
      await schedules.renew();
    },
    /**
     * Jobs that wait for a free worker, by queue; delayed and running ones do not count. Rejects
     * when the store is away.
     */
    depths: async (): Promise<Record<QueueName, number>> => {
      const depthOf = async (queue: StoredQueue): Promise<number> =>
        (await queue.getJobCounts('waiting'))['waiting'] ?? 0;
      const [bank, rest] = await Promise.all([depthOf(queues.bank), depthOf(queues.schedules)]);
      return { bank, schedules: rest };
    },
    /** Whether the store answers within two seconds. */
    ready: (): Promise<boolean> => {
      const answered = store.ask().then(() => (outage.ended(), true));
      return Promise.race([
        answered.catch(() => false),
        delay(ready_max_ms, false, { ref: false }),
      ]);
    },
    /**
     * Stops taking jobs, waits for running ones until the drain deadline, and closes every
     * connection. A second call waits for the first.
     */
    close: (): Promise<void> => (closing ??= shut()),
  };
};

export type Queues = Awaited<ReturnType<typeof openQueues>>;

const openEach = async ({ factory }: QueueStore, outage: Outage): Promise<StoredQueues> => {
  const settings = {
    connection: {},
    defaultJobOptions: jobOptions,
    streams: { events: { maxLen: eventsKept } },
  };
  const open = async (name: QueueName): Promise<StoredQueue> => {
    const queue: StoredQueue = new Queue(name, settings, factory);
    queue.on('error', outage.began);
    await queue.waitUntilReady();
    return queue;
  };
  const [bank, schedules] = await Promise.all([open('bank'), open('schedules')]);
  return { bank, schedules };
};

const openAdding = (
  queues: StoredQueues,
  queueOf: ReadonlyMap<string, QueueName>,
  outage: Outage,
) => {
  const find = (job: string): StoredQueue => {
    const name = queueOf.get(job);
    if (!name) throw new Error(`no job is called ${job}`);
    return queues[name];
  };
  const wake = (adding: Promise<unknown>): Promise<void> => adding.then(outage.ended, outage.began);
  return {
    /**
     * Adds one job. Every call adds one, whether or not others wait. When the store is away the
     * wake-up is dropped and logged: a sweep finds the row. Throws for an unknown job. The trace
     * travels with the payload, and the job's run belongs to it.
     */
    add: (
      job: string,
      payload: JobPayload,
      { delay_ms = 0 }: { readonly delay_ms?: number } = {},
    ): Promise<void> =>
      spanned({ kind: 'producer', name: `add ${job}` }, async (span) => {
        const traced = span ? { telemetry: { metadata: span.traceparent } } : {};
        await wake(find(job).add(job, payload, { delay: delay_ms, ...traced }));
      }),
    /**
     * Adds many, so that each job and payload added here waits at most once: if one already waits,
     * nothing is added, and if one runs, one more run follows when it ends. A sweep may therefore
     * add everything it finds each time, and no wake-up is missed. Otherwise as `add`.
     */
    addMany: async (job: string, payloads: readonly JobPayload[]): Promise<void> => {
      const queue = find(job);
      const added = payloads.map((payload) => ({
        name: job,
        data: payload,
        opts: { deduplication: { id: idOf(job, payload), keepLastIfActive: true } },
      }));
      for (let from = 0; from < added.length; from += batch_max)
        await wake(queue.addBulk(added.slice(from, from + batch_max)));
    },
  };
};

/** The same job and payload have the same id. */
const idOf = (job: string, payload: JobPayload): string => {
  const sorted = JSON.stringify(Object.entries(payload).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return `${job}-${createHash('sha256').update(sorted).digest('base64url')}`;
};

/** BullMQ's worker, but when its store refuses it retries after a pause, not at once. */
class PausingWorker extends Worker<JobPayload, void, string, IQueueBackend> {
  protected override async moveToActive(
    token: string,
    name?: string,
  ): Promise<QueuedJob<JobPayload, void>> {
    try {
      return await super.moveToActive(token, name);
    } catch (error) {
      await delay(retryWhenLost_ms);
      throw error;
    }
  }
}

/** Connects, and then takes the jobs of one queue. */
const startWorker = async (
  queue: QueueName,
  jobs: readonly Job[],
  { log, concurrency, lock_ms = lockDefault_ms }: QueuesOptions,
  { factory }: QueueStore,
  outage: Outage,
): Promise<PausingWorker> => {
  const run = runnerOf(jobs, log);
  const worker = new PausingWorker(
    queue,
    async (queued, token) => settle(await run(queued), queued, token),
    {
      connection: {},
      concurrency: concurrency?.[queue] ?? concurrencyDefault[queue],
      lockDuration: lock_ms,
      stalledInterval: lock_ms / 2,
      maxStalledCount: stalls_max,
      runRetryDelay: retryWhenLost_ms,
      autorun: false,
    },
    factory,
  );
  worker.on('active', outage.ended).on('error', (error) => {
    if (isAboutOneJob(error))
      log.warn({ queue, err: error }, 'the end of a run was not stored; the job may run again');
    else outage.began(error);
  });
  await worker.waitUntilReady();
  worker.run().catch(outage.began);
  return worker;
};

/** BullMQ's own refusals have a negative number as code: a lock expired, or a job is gone. */
const isAboutOneJob = (error: Error): boolean =>
  ('code' in error && typeof error.code === 'number') ||
  error.message.startsWith('could not renew lock');

/**
 * Takes no more jobs and waits for the running ones; false when `deadline` came first. The locks of
 * the remaining jobs then expire, and other processes take them.
 */
const drain = async (
  worker: Worker<JobPayload, void, string, IQueueBackend>,
  deadline: Promise<false>,
): Promise<boolean> => {
  const isDrained = await Promise.race([worker.pause().then(() => true), deadline]);
  await Promise.race([worker.close(true), delay(close_max_ms, undefined, { ref: false })]);
  return isDrained;
};

const runnerOf = (
  jobs: readonly Job[],
  log: Logger,
): ((queued: QueuedJob<JobPayload, void>) => Promise<RunOutcome>) => {
  const byName = new Map(jobs.map((job) => [job.name, job]));
  const turnsNow = new Set<string>();
  return async ({ name, data, opts, repeatJobKey }) => {
    const job = byName.get(name);
    if (!job) {
      // A newer version may have added it and can work it; this process cannot.
      log.warn({ job: name }, 'unknown job');
      return { outcome: 'threw' };
    }
    if (!repeatJobKey) {
      const start = { kind: 'consumer', name: `job ${name}` } as const;
      return continued(opts.telemetry?.metadata, start, () => runJob(job, data, log));
    }
    // A turn that outlasts its interval must not fill the queue with itself.
    if (turnsNow.has(name)) return { outcome: 'done' };
    turnsNow.add(name);
    return runJob(job, null, log).finally(() => turnsNow.delete(name));
  };
};

/** Error texts stay in our log: BullMQ stores the errors that it receives with the job. */
const settle = async (
  result: RunOutcome,
  queued: QueuedJob<JobPayload, void>,
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

interface Schedules {
  /** Starts every schedule that is missing or has stopped. Never rejects. */
  renew(): Promise<void>;
  close(): void;
}

/** BullMQ's job schedulers: one for each job with `every_ms`, however many processes work it. */
const keepSchedules = (queues: StoredQueues, jobs: readonly Job[], outage: Outage): Schedules => {
  // A running schedule is not updated: BullMQ's PostgreSQL functions do not lock it, and an update
  // while its turn begins can leave it without a next turn.
  const isRunning = async (
    queue: StoredQueue,
    name: string,
    every_ms: number,
  ): Promise<boolean> => {
    const there = await queue.getJobScheduler(name);
    if (there?.every !== every_ms) return false;
    const { next = 0 } = there;
    return (
      next > Date.now() - retryWhenLost_ms ||
      (await queue.getJob(`repeat:${name}:${next}`)) !== undefined
    );
  };
  const renew = async (): Promise<void> => {
    for (const { name, queue, every_ms } of jobs) {
      if (every_ms === undefined || (await isRunning(queues[queue], name, every_ms))) continue;
      // The next turn comes anyway: a run that threw is not retried before it.
      const template = { name, opts: { attempts: 1 } };
      await queues[queue].upsertJobScheduler(name, { every: every_ms }, template);
    }
  };
  let renewing: Promise<void> | null = null;
  const renewOnce = (): Promise<void> =>
    (renewing ??= renew()
      .catch(outage.began)
      .finally(() => (renewing = null)));
  const timer = setInterval(() => void renewOnce(), renewSchedules_ms).unref();
  return { renew: renewOnce, close: () => clearInterval(timer) };
};
