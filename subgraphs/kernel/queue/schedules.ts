/**
 * Keeps BullMQ's job schedulers: one for each job with `every_ms`, however many processes work it.
 */
import type { StoredQueue } from './backend.ts';
import type { Job, QueueName } from './run-job.ts';

/**
 * A store that lost its data also lost its schedules, and the sweeps that repair everything else
 * run on them.
 */
const renewal_ms = 60_000;
/**
 * How often it is looked whether schedules are missing. A node of a cluster may come back empty
 * before anybody has missed it.
 */
const look_ms = 2_000;

export interface Schedules {
  /** Puts every schedule back that is not there. Rejects when the store does not answer. */
  renew(): Promise<void>;
  close(): void;
}

/**
 * Keeps the schedules of `jobs`: call `renew` at the start and when the store is back; it is
 * repeated every minute, and when some are missing.
 */
export const keepSchedules = (
  queues: Readonly<Record<QueueName, StoredQueue>>,
  jobs: readonly Job[],
): Schedules => {
  /** Removes schedules that former releases had for jobs which have none any more. */
  const removeFormer = async (): Promise<void> => {
    for (const queue of new Set(jobs.map((job) => job.queue)))
      for (const { key } of await queues[queue].getJobSchedulers())
        if (jobs.some(({ name, every_ms }) => name === key && every_ms === undefined))
          await queues[queue].removeJobScheduler(key);
  };
  const renew = async (): Promise<void> => {
    for (const { name, queue, every_ms } of jobs) {
      if (every_ms === undefined) continue;
      // The next turn comes anyway: a run that threw is not tried again before it.
      await queues[queue].upsertJobScheduler(
        name,
        { every: every_ms },
        { name, opts: { attempts: 1 } },
      );
    }
    // What could not be removed, the next renewal removes.
    await removeFormer().catch(() => {});
  };
  const wanted = Map.groupBy(
    jobs.filter(({ every_ms }) => every_ms !== undefined),
    ({ queue }) => queue,
  );
  const isLacking = async (): Promise<boolean> => {
    for (const [queue, its] of wanted)
      if ((await queues[queue].getJobSchedulersCount()) < its.length) return true;
    return false;
  };
  let looking = false;
  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    try {
      if (await isLacking()) await renew();
    } finally {
      looking = false;
    }
  };
  const looks = setInterval(() => void look().catch(() => {}), look_ms).unref();
  // A renewal that fails is no loss: the next one comes, and the outage is already in the log.
  const timer = setInterval(() => void renew().catch(() => {}), renewal_ms).unref();
  return { renew, close: () => [timer, looks].forEach(clearInterval) };
};
