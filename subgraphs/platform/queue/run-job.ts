/**
 * A job answers done, retry in, or give up. Payloads are ids, never amounts, never secrets.
 * docs/architecture.md#invariants: a job is only a wake-up; PostgreSQL has the rows and sweeps find
 * lost ones, so giving up a run loses nothing.
 */
import type pg from 'pg';
import { setTimeout as delay } from 'node:timers/promises';
import * as v from 'valibot';
import { jobDuration, jobRuns, type Logger } from '../tracing/telemetry.ts';
import { isSharded } from '../database/sql-file.ts';
import { run, type Statement } from '../database/statement.ts';
import { isDatabaseLost } from '../tracing/error-code.ts';

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

/** A job whose tables state what is due (`joinSweeps`): it runs when something is due. */
interface Sweep extends AnyJob {
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
  run: work,
  ...job
}: JobWithPayload<Schema>): Job => ({
  ...job,
  run: async (payload) => {
    const { success, output, issues } = v.safeParse(schema, payload);
    if (success) return work(output);
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
  #waking = new AbortController();

  wake(): void {
    this.#waking.abort();
  }

  /** Resolves at the next signal, or after `most_ms` milliseconds. */
  async wait(most_ms: number): Promise<void> {
    const { signal } = this.#waking;
    await delay(most_ms, undefined, { signal }).catch(() => {});
    if (signal.aborted) this.#waking = new AbortController();
  }
}

// Sweeps: jobs whose tables state what is due. A schedule for each would keep the store busy in an
// idle service, so they share one: each turn finds the sweeps that have work in one statement and
// runs those.

interface SweepDeps {
  readonly pool: pg.Pool;
  readonly now: () => Temporal.Instant;
  readonly log: Logger;
  readonly queues: { addMany(job: string, payloads: readonly {}[]): Promise<void> };
}

/** What is due is found within a second. */
const look_ms = 1_000;
/**
 * Where the tables are sharded a check queries every shard: each turn makes a third of the checks.
 */
const turns_max = 3;

const isSweep = (job: Job): job is Sweep => job.due !== undefined;

/** A statement that returns the names of those sweeps that have work. */
interface Look {
  readonly names: readonly string[];
  readonly statement: Statement;
}

const lookFor = (name: string, sweeps: readonly Sweep[]): Look => ({
  names: sweeps.map((one) => one.name),
  statement: {
    name,
    text: `select name from (values ${sweeps.map((one) => `('${one.name}', (${one.due.join(' or ')}))`).join(', ')}) as sweep (name, is_due) where is_due`,
  },
});

/** One look for all sweeps; where the tables are sharded, one for each kind of rows. */
const looksFor = (sweeps: readonly Sweep[]): Record<'single' | 'sharded', readonly Look[]> => ({
  single: [lookFor('sweeps.due', sweeps)],
  sharded: sweeps.flatMap((one) =>
    (one.dueWhereSharded === undefined ? one.due : [one.dueWhereSharded]).map((due, place) =>
      lookFor(`sweeps.due_${one.name}_${place}`, [{ ...one, due: [due] }]),
    ),
  ),
});

/**
 * The jobs, with all sweeps on one schedule. A sweep remains a job of its queue, so that other
 * processes may wake it.
 */
export const joinSweeps = (
  { pool, now, log, queues }: SweepDeps,
  jobs: readonly Job[],
): readonly Job[] => {
  const sweeps = jobs.filter(isSweep);
  const looks = looksFor(sweeps);
  let turn = 0;
  const isDue = async ({ names, statement }: Look): Promise<readonly string[]> => {
    try {
      const values = statement.text.includes('$1') ? [now()] : [];
      const rows = await run<{ name: string }>(pool, statement, values);
      return rows.map(({ name }) => name);
    } catch (error) {
      if (isDatabaseLost(error)) throw error;
      // A sweep with unexpected tables must not stop the others.
      log.error(
        { err: error, names },
        'could not find out which sweeps have work; running them all',
      );
      return names;
    }
  };
  const findDue = async (): Promise<readonly string[]> => {
    const due = new Set<string>();
    const isOurs = (_: Look, place: number): boolean => place % turns_max === turn;
    const asked = (await isSharded(pool)) ? looks.sharded.filter(isOurs) : looks.single;
    for (const look of asked) for (const name of await isDue(look)) due.add(name);
    turn = (turn + 1) % turns_max;
    return [...due];
  };
  return [
    ...jobs,
    {
      name: 'find-due',
      queue: 'schedules',
      every_ms: look_ms,
      run: async () => {
        for (const name of await findDue()) await queues.addMany(name, [{}]);
        return done;
      },
    },
  ];
};
