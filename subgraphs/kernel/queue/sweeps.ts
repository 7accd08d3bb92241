/**
 * Sweeps: jobs whose tables state what is due. A schedule for each would keep the store busy in a
 * service that has nothing to do, so they share one: its turn asks in one statement which of them
 * have work, and runs those.
 */
import type pg from 'pg';
import { run } from '../database/statement.ts';
import { isDatabaseLost } from '../service/database-lost.ts';
import type { Logger } from '../service/tracing/telemetry.ts';
import type { Queues } from './queues.ts';
import { done, type Job } from './run-job.ts';

export interface SweepParts {
  readonly pool: pg.Pool;
  readonly now: () => Temporal.Instant;
  readonly log: Logger;
  readonly queues: Pick<Queues, 'addMany'>;
}

interface Sweep extends Job {
  readonly due: string;
}

/** What is due is found within a second. */
const look_ms = 1_000;

const isSweep = (job: Job): job is Sweep => job.due !== undefined;

/**
 * The jobs with the sweeps among them on one schedule. A sweep remains a job of its queue, so that
 * other processes may wake it.
 */
export const gatherSweeps = (
  { pool, now, log, queues }: SweepParts,
  jobs: readonly Job[],
): readonly Job[] => {
  const sweeps = jobs.filter(isSweep);
  const look = {
    name: 'sweeps.due',
    text: `select name from (values ${sweeps.map(({ name, due }) => `('${name}', (${due}))`).join(', ')}) as sweep (name, is_due) where is_due`,
  };
  const findDue = async (): Promise<readonly string[]> => {
    try {
      const rows = await run<{ name: string }>(pool, look, [now()]);
      return rows.map(({ name }) => name);
    } catch (error) {
      if (isDatabaseLost(error)) throw error;
      // One whose tables are not as expected must not keep the others from their work.
      log.error({ err: error }, 'it cannot be found which sweeps have work; all of them run');
      return sweeps.map(({ name }) => name);
    }
  };
  return [
    ...jobs.map((job) => {
      if (!isSweep(job)) return job;
      const { every_ms: _, ...woken } = job;
      return woken;
    }),
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
