/**
 * The queues: BullMQ on Redis when there is a Redis, else on PostgreSQL. Losing every queue loses
 * nothing (docs/architecture.md#invariants).
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type DefaultJobOptions, Queue } from 'bullmq';
import type { Logger } from '../service/tracing/telemetry.ts';
import { spanned } from '../service/tracing/tracing.ts';
import { type Backend, type JobPayload, openReady, type StoredQueue } from './backend.ts';
import { migratePostgresBackend, openPostgresBackend } from './backend-postgres.ts';
import { openRedisBackend } from './backend-redis.ts';
import { type KeptWorker, keepWorker } from './keep-worker.ts';
import { type LocalRun, type LocalRuns, openLocalRuns } from './local-runs.ts';
import { type Outage, watchOutage } from './outage.ts';
import { type Job, type QueueName, queueNames } from './run-job.ts';
import { keepSchedules, type Schedules } from './schedules.ts';
import { openWorker, type PatientWorker } from './work.ts';

export interface Queues {
  /**
   * Adds one job. Every call adds one, whatever is already there. A process that works the job and
   * has room runs it itself. When the store is away the wake is dropped and logged: a sweep finds
   * the row. Throws for an unknown job.
   */
  add(job: string, payload: JobPayload, options?: { readonly delay_ms?: number }): Promise<void>;
  /**
   * Adds many, so that each job and payload added here waits at most once: where one waits already,
   * nothing is added, and where one runs, one more run follows when it ends. A sweep may therefore
   * add what it finds each time, and no wake is missed. Otherwise as `add`.
   */
  addMany(job: string, payloads: readonly JobPayload[]): Promise<void>;
  /**
   * Works the queues of these jobs in this process, and keeps their schedules. The list must hold
   * all jobs of each queue in it. Called once.
   */
  work(jobs: readonly Job[]): Promise<void>;
  /**
   * Jobs that wait for a free worker, by queue; delayed and running ones are not counted. Rejects
   * when the store is away.
   */
  depths(): Promise<Record<QueueName, number>>;
  /** Whether the store answers within two seconds. */
  ready(): Promise<boolean>;
  /**
   * Stops taking jobs, waits for running ones until the drain deadline, and closes every
   * connection. A second call waits for the first.
   */
  close(): Promise<void>;
}

export interface QueuesOptions {
  /** Null: PostgreSQL. */
  readonly redisUrl: string | null;
  readonly databaseUrl: string;
  readonly log: Logger;
  /** The jobs that may be added; a job's queue is found by its name. */
  readonly jobs: readonly Pick<Job, 'name' | 'queue'>[];
  /** Jobs at the same time in this process. */
  readonly concurrency?: Partial<Record<QueueName, number>>;
  /** How long a killed process keeps its jobs before another takes them. */
  readonly lock_ms?: number;
  /** How long `close` waits for running jobs. */
  readonly drain_ms?: number;
}

/** A webhook may hold its slot for 15 seconds, hence so many. */
const concurrencyOf: Readonly<Record<QueueName, number>> = {
  webhooks: 200,
  bank: 50,
  schedules: 10,
};
/**
 * The share of its places that a process has for the jobs that it adds itself. What exceeds it is
 * left to the store, which gives it to whoever has room.
 */
const localShare = 0.5;
const lockDefault_ms = 10_000;
const drainDefault_ms = 8_000;
const readyPatience_ms = 2_000;
/** PostgreSQL takes a lock for each job of a batch. */
const batch_max = 200;
/** Nobody reads BullMQ's own event log. */
const eventsKept = 100;

/**
 * Finished jobs are removed at once: nobody looks at them, and a count of kept ones costs
 * PostgreSQL a scan each time. After a throw: 1 s, doubled each time and scattered, up to a minute;
 * then the job is given up.
 */
const jobOptions: DefaultJobOptions = {
  attempts: 8,
  backoff: { type: 'exponential', delay: 1_000, jitter: 0.5 },
  removeOnComplete: true,
  removeOnFail: true,
  stackTraceLimit: 0,
};

/**
 * Creates or updates the tables of the queues in schema `bullmq`. Does nothing when the queues are
 * on Redis. Safe to run in several processes at once.
 */
export const migrateQueues = async (
  databaseUrl: string,
  redisUrl: string | null = null,
): Promise<void> => {
  if (redisUrl === null) await migratePostgresBackend(databaseUrl);
};

/**
 * Opens the queues. Rejects when their store does not answer for 30 seconds, or has not been
 * migrated. Nothing is worked before `work`.
 */
export const openQueues = async (options: QueuesOptions): Promise<Queues> => {
  const { log, redisUrl, databaseUrl, drain_ms = drainDefault_ms } = options;
  const { lock_ms = lockDefault_ms } = options;
  let schedules: Schedules | null = null;
  const outage = watchOutage('queue store', log, () => void schedules?.renew().catch(() => {}));
  const backend = redisUrl
    ? await openRedisBackend(redisUrl, outage)
    : await openPostgresBackend(databaseUrl, outage);
  const queues = await openEach(backend, outage);
  const workers: KeptWorker[] = [];
  const concurrency = { ...concurrencyOf, ...options.concurrency };
  const queueOf = new Map(options.jobs.map((job) => [job.name, job.queue]));
  const storing = openStoring(queues, queueOf, outage);
  const here = sharesOf(concurrency);
  const local = openLocalRuns({ log, concurrency: here, store: storing.addRun });
  let closing: Promise<void> | null = null;
  const shut = async (): Promise<void> => {
    schedules?.close();
    const deadline = delay(drain_ms, undefined, { ref: false });
    const closed = await Promise.allSettled([
      local.close(deadline),
      ...workers.map((worker) => worker.close(deadline)),
    ]);
    outage.silence();
    if (closed.some((result) => result.status === 'rejected' || !result.value))
      log.warn({ drain_ms }, 'jobs still run at the end of the drain; others take them over');
    await Promise.allSettled(Object.values(queues).map((queue) => queue.close()));
    await backend.close();
  };
  return {
    ...openAdding(storing, local),
    work: async (jobs) => {
      for (const { name, queue } of jobs) queueOf.set(name, queue);
      for (const queue of queueNames) {
        const its = jobs.filter((job) => job.queue === queue);
        const open = (): Promise<PatientWorker> =>
          openWorker({
            queue,
            jobs: its,
            concurrency: concurrency[queue] - here[queue],
            lock_ms,
            factory: backend.factory,
            outage,
            log,
          });
        if (its.length > 0) workers.push(await keepWorker({ open, ask: () => backend.ask(), log }));
      }
      local.work(jobs);
      schedules = keepSchedules(queues, jobs);
      await schedules.renew();
    },
    depths: () => depthsOf(queues),
    ready: () => answers(backend),
    close: () => (closing ??= shut()),
  };
};

/** Whether the store answers in time. */
const answers = (backend: Backend): Promise<boolean> =>
  Promise.race([
    backend.ask().then(
      () => true,
      () => false,
    ),
    delay(readyPatience_ms, false, { ref: false }),
  ]);

const openEach = async (
  backend: Backend,
  outage: Outage,
): Promise<Record<QueueName, StoredQueue>> => {
  const open = (name: QueueName): Promise<StoredQueue> =>
    openReady(() => {
      const settings = {
        connection: {},
        defaultJobOptions: jobOptions,
        streams: { events: { maxLen: eventsKept } },
      };
      const queue: StoredQueue = new Queue(name, settings, backend.factory);
      return queue.on('error', (error) => outage.began(error));
    });
  const [webhooks, bank, schedules] = await Promise.all([
    open('webhooks'),
    open('bank'),
    open('schedules'),
  ]);
  return { webhooks, bank, schedules };
};

/** The places of a process for the jobs that it adds itself. */
const sharesOf = (places: Readonly<Record<QueueName, number>>): Record<QueueName, number> => ({
  webhooks: Math.floor(places.webhooks * localShare),
  bank: Math.floor(places.bank * localShare),
  schedules: Math.floor(places.schedules * localShare),
});

const depthsOf = async (
  queues: Readonly<Record<QueueName, StoredQueue>>,
): Promise<Record<QueueName, number>> => {
  const [webhooks, bank, schedules] = await Promise.all([
    depthOf(queues.webhooks),
    depthOf(queues.bank),
    depthOf(queues.schedules),
  ]);
  return { webhooks, bank, schedules };
};

const depthOf = async (queue: StoredQueue): Promise<number> =>
  (await queue.getJobCounts('waiting'))['waiting'] ?? 0;

/** Adds jobs to the store; never rejects because of it. */
interface Storing {
  readonly addRun: (run: LocalRun) => Promise<void>;
  addOnce(job: string, payloads: readonly JobPayload[]): Promise<void>;
}

const openStoring = (
  queues: Record<QueueName, StoredQueue>,
  queueOf: ReadonlyMap<string, QueueName>,
  outage: Outage,
): Storing => {
  const find = (job: string): StoredQueue => {
    const name = queueOf.get(job);
    if (!name) throw new Error(`no job is called ${job}`);
    return queues[name];
  };
  const wake = async (adding: Promise<unknown>): Promise<void> => {
    try {
      await adding;
      outage.ended();
    } catch (error) {
      outage.began(error);
    }
  };
  return {
    // The trace goes beside the payload, and the job's run is in it (`work.ts`).
    addRun: async ({ job, payload, delay_ms, traceparent }) => {
      const traced = traceparent ? { telemetry: { metadata: traceparent } } : {};
      return wake(find(job).add(job, payload, { delay: delay_ms, ...traced }));
    },
    addOnce: async (job, payloads) => {
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

const openAdding = (storing: Storing, local: LocalRuns): Pick<Queues, 'add' | 'addMany'> => ({
  add: async (job, payload, { delay_ms = 0 } = {}) =>
    spanned({ kind: 'producer', name: `add ${job}` }, async (span) => {
      const traceparent = span?.traceparent;
      const run = { job, payload, delay_ms, id: null, traceparent };
      if (!local.take(run)) await storing.addRun(run);
    }),
  addMany: async (job, payloads) => {
    const isLeft = (payload: JobPayload): boolean =>
      !local.take({ job, payload, delay_ms: 0, id: idOf(job, payload) });
    await storing.addOnce(job, payloads.filter(isLeft));
  },
});

/** The same job and payload have the same id. */
const idOf = (job: string, payload: JobPayload): string => {
  const sorted = JSON.stringify(Object.entries(payload).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return `${job}-${createHash('sha256').update(sorted).digest('base64url')}`;
};
