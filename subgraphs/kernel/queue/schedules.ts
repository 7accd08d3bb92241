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
 * How often it is looked whether a schedule has stopped. A node of a cluster may come back empty
 * before anybody has missed it.
 */
const look_ms = 2_000;

export interface Schedules {
  /** Puts every schedule back that has stopped. Rejects when the store does not answer. */
  renew(): Promise<void>;
  close(): void;
}

/**
 * Keeps the schedules of `jobs`: call `renew` at the start and when the store is back; it is
 * repeated every minute, and when one has stopped.
 */
export const keepSchedules = (
  queues: Readonly<Record<QueueName, StoredQueue>>,
  jobs: readonly Job[],
): Schedules => {
  // A running schedule is not updated: BullMQ's PostgreSQL functions do not lock it, and an update
  // while its turn begins can leave it without a next turn.
  const renew = async (): Promise<void> => {
    for (const { name, queue, every_ms } of jobs) {
      if (every_ms === undefined) continue;
      const there = await queues[queue].getJobScheduler(name);
      if (there?.every === every_ms && (await hasNextTurn(queues[queue], there))) continue;
      // The next turn comes anyway: a run that threw is not tried again before it.
      await queues[queue].upsertJobScheduler(
        name,
        { every: every_ms },
        { name, opts: { attempts: 1 } },
      );
    }
  };
  const wanted = Map.groupBy(
    jobs.filter(({ every_ms }) => every_ms !== undefined),
    ({ queue }) => queue,
  );
  const isLacking = async (): Promise<boolean> => {
    for (const [queue, its] of wanted) {
      if ((await queues[queue].getJobSchedulersCount()) < its.length) return true;
      // One that has stopped stays where it was, while all others go on.
      const [last] = await queues[queue].getJobSchedulers(0, 0, true);
      if (last && !(await hasNextTurn(queues[queue], last))) return true;
    }
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

/** Whether the next turn of a schedule is to come, waits or runs. One that is overdue may be gone. */
const hasNextTurn = async (
  queue: StoredQueue,
  { key, next = 0 }: { readonly key: string; readonly next?: number },
): Promise<boolean> =>
  next > Date.now() - look_ms || (await queue.getJob(`repeat:${key}:${next}`)) !== undefined;
