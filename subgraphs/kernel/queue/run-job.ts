/**
 * A job answers done, retry in, or give up. Payloads are ids, never amounts, never secrets.
 * Invariant 1 of ARCHITECTURE.md: a job only wakes; PostgreSQL has the rows and sweeps find what
 * was lost, so a run that is given up loses nothing.
 */
import { jobDuration, jobRuns, type Logger } from '../service/tracing/telemetry.ts';

/** What a run of a job came to. */
export type JobOutcome =
  | { readonly outcome: 'done' }
  /** Run it again after so many milliseconds. */
  | { readonly outcome: 'retry'; readonly in_ms: number }
  /** Never run it again; say why. */
  | { readonly outcome: 'give_up'; readonly why: string };

export const done: JobOutcome = { outcome: 'done' };
/** The job runs again after so many milliseconds. */
export const retryIn = (in_ms: number): JobOutcome => ({ outcome: 'retry', in_ms });
/** The job never runs again; `why` goes to the log. */
export const giveUp = (why: string): JobOutcome => ({ outcome: 'give_up', why });

/** Queues, by what they isolate: webhooks must not delay the rest. */
export const queueNames = ['webhooks', 'bank', 'schedules'] as const;
export type QueueName = (typeof queueNames)[number];

/** A kind of job: its name, where it runs, how its payload is read, and what it does. */
export interface Job<Payload = unknown> {
  readonly name: string;
  readonly queue: QueueName;
  /** Present: it is also run on this schedule, with the payload `null`. */
  readonly every_ms?: number;
  /** Reads a payload from a queue; throws when it is not one. */
  readonly parse: (payload: unknown) => Payload;
  /**
   * A method and not a property, so that a list of jobs may hold jobs of different payloads: `run`
   * is only ever given what `parse` made.
   */
  run(payload: Payload): Promise<JobOutcome>;
}

/**
 * What the queue makes of a run: the job's own answer, or that it had none. A run that threw is run
 * again with a growing delay, a bounded number of times.
 */
export type RunOutcome = JobOutcome | { readonly outcome: 'threw' };

/**
 * Runs a job once with a payload from the queue. Counts the outcome, and logs all but done and
 * retry. Never rejects. A payload that is not the job's is given up: it would be no better the next
 * time.
 */
export const runJob = async (job: Job, payload: unknown, log: Logger): Promise<RunOutcome> => {
  const end = jobDuration.startTimer({ job: job.name });
  const outcome = await attempt(job, payload, log);
  end();
  jobRuns.inc({ job: job.name, outcome: outcome.outcome });
  if (outcome.outcome === 'give_up')
    log.warn({ job: job.name, payload, why: outcome.why }, 'a job was given up');
  return outcome;
};

const attempt = async (job: Job, payload: unknown, log: Logger): Promise<RunOutcome> => {
  let parsed: unknown;
  try {
    parsed = job.parse(payload);
  } catch (error) {
    return giveUp(
      `its payload cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  try {
    return await job.run(parsed);
  } catch (error) {
    log.warn({ job: job.name, payload, err: error }, 'a job threw');
    return { outcome: 'threw' };
  }
};
