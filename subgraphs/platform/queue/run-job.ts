/**
 * A job answers done, retry in, or give up. Payloads are ids, never amounts, never secrets.
 * docs/architecture.md#invariants: a job is only a wake-up; PostgreSQL has the rows and sweeps find
 * lost ones, so giving up a run loses nothing.
 */
import * as v from 'valibot';
import { jobDuration, jobRuns, type Logger } from '../tracing/telemetry.ts';

/** What a run of a job came to. */
export type JobOutcome =
  | { readonly outcome: 'done' }
  /** Run it again after so many milliseconds. */
  | { readonly outcome: 'retry'; readonly in_ms: number }
  /** Never run it again, for this reason. */
  | { readonly outcome: 'give_up'; readonly why: string };

export const done: JobOutcome = { outcome: 'done' };
/** The job runs again after so many milliseconds. */
export const retryIn = (in_ms: number): JobOutcome => ({ outcome: 'retry', in_ms });
/** The job never runs again; `why` is logged. */
export const giveUp = (why: string): JobOutcome => ({ outcome: 'give_up', why });

/** Queues, by what they isolate: a slow bank must not delay the schedules. */
export const queueNames = ['bank', 'schedules'] as const;
export type QueueName = (typeof queueNames)[number];

interface AnyJob {
  readonly name: string;
  readonly queue: QueueName;
  /** A job whose rows state what is due takes no payload; see `jobWithPayload` for the others. */
  readonly run: (payload: unknown) => Promise<JobOutcome>;
}

/** A job that runs when it is added, or on a schedule. */
interface PlainJob extends AnyJob {
  /** Present: it runs on this schedule, with the payload `null`. */
  readonly every_ms?: number;
  readonly due?: never;
}

/** A job whose tables state what is due (`sweeps.ts`): it runs when something is due. */
export interface Sweep extends AnyJob {
  readonly every_ms?: never;
  /** SQL, for each kind of its rows: whether a row is due by `$1`. */
  readonly due: readonly string[];
  /**
   * The same for sharded tables, when repeating `due` there costs too much: it may be true although
   * nothing is due.
   */
  readonly dueWhereSharded?: string;
}

/** A kind of job: its name, where it runs, and what it does. */
export type Job = PlainJob | Sweep;

/** A sweep among the schedules: it finds its own work, and each of `due` says whether there is any. */
export const sweep = (
  name: string,
  due: readonly string[],
  work: () => Promise<unknown>,
): Sweep => ({
  name,
  queue: 'schedules',
  due,
  run: async () => {
    await work();
    return done;
  },
});

/** A job among the schedules that runs every so many milliseconds. */
export const periodic = (name: string, every_ms: number, work: () => Promise<unknown>): Job => ({
  name,
  queue: 'schedules',
  every_ms,
  run: async () => {
    await work();
    return done;
  },
});

interface JobWithPayload<Schema extends v.GenericSchema> extends Pick<AnyJob, 'name' | 'queue'> {
  readonly payload: Schema;
  readonly run: (payload: v.InferOutput<Schema>) => Promise<JobOutcome>;
}

/**
 * A job that reads its payload by a schema. An invalid payload is given up: it would be invalid the
 * next time, too.
 */
export const jobWithPayload = <Schema extends v.GenericSchema>({
  payload: schema,
  run,
  ...job
}: JobWithPayload<Schema>): Job => ({
  ...job,
  run: async (payload) => {
    const { success, output, issues } = v.safeParse(schema, payload);
    if (success) return run(output);
    return giveUp(`its payload cannot be read: ${issues.map(({ message }) => message).join('; ')}`);
  },
});

/**
 * The queue's view of a run: the job's own answer, or none. A run that threw is retried with a
 * growing delay, a bounded number of times.
 */
export type RunOutcome = JobOutcome | { readonly outcome: 'threw' };

/**
 * Runs a job once with a payload from the queue. Counts the outcome, and logs all but done and
 * retry. Never rejects.
 */
export const runJob = async (job: Job, payload: unknown, log: Logger): Promise<RunOutcome> => {
  const end = jobDuration.startTimer({ job: job.name });
  const outcome = await attempt(job, payload, log);
  end();
  jobRuns.inc({ job: job.name, outcome: outcome.outcome });
  if (outcome.outcome === 'give_up')
    log.warn({ job: job.name, payload, why: outcome.why }, 'job abandoned after its last attempt');
  return outcome;
};

const attempt = async (job: Job, payload: unknown, log: Logger): Promise<RunOutcome> => {
  try {
    return await job.run(payload);
  } catch (error) {
    log.warn({ job: job.name, payload, err: error }, 'a job threw');
    return { outcome: 'threw' };
  }
};

/**
 * A signal for one waiting loop. A signal that arrives while the loop does not wait is kept and
 * ends the next wait at once.
 */
export class WakeSignal {
  #woken = false;
  #end = (): void => {};

  wake(): void {
    this.#woken = true;
    this.#end();
  }

  /**
   * Resolves at the next signal, or after `most_ms` milliseconds when present; returns whether
   * there was a signal.
   */
  async wait(most_ms?: number): Promise<boolean> {
    if (!this.#woken) {
      await new Promise<void>((resolve) => {
        const timer = most_ms === undefined ? undefined : setTimeout(resolve, most_ms);
        this.#end = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    const woken = this.#woken;
    this.#woken = false;
    return woken;
  }
}
