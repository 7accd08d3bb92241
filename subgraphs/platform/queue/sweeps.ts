/**
 * Sweeps: jobs whose tables state what is due. A schedule for each would keep the store busy in an
 * idle service, so they share one: each turn finds the sweeps that have work in one statement and
 * runs those.
 */
import type pg from 'pg';
import { isSharded } from '../database/sharding.ts';
import { run, type Statement } from '../database/statement.ts';
import { isDatabaseLost } from '../tracing/error-code.ts';
import type { Logger } from '../tracing/telemetry.ts';
import type { Queues } from './queues.ts';
import { done, type Job, type Sweep } from './run-job.ts';

interface SweepDeps {
  readonly pool: pg.Pool;
  readonly now: () => Temporal.Instant;
  readonly log: Logger;
  readonly queues: Pick<Queues, 'addMany'>;
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
  names: sweeps.map((sweep) => sweep.name),
  statement: {
    name,
    text: `select name from (values ${sweeps.map((sweep) => `('${sweep.name}', (${sweep.due.join(' or ')}))`).join(', ')}) as sweep (name, is_due) where is_due`,
  },
});

/** One look for all sweeps; where the tables are sharded, one for each kind of rows. */
const looksFor = (sweeps: readonly Sweep[]): Record<'single' | 'sharded', readonly Look[]> => ({
  single: [lookFor('sweeps.due', sweeps)],
  sharded: sweeps.flatMap((sweep) =>
    (sweep.dueWhereSharded === undefined ? sweep.due : [sweep.dueWhereSharded]).map((due, place) =>
      lookFor(`sweeps.due_${sweep.name}_${place}`, [{ ...sweep, due: [due] }]),
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
