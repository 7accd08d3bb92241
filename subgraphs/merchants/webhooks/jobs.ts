/**
 * The jobs that deliver webhooks. `deliver-webhooks` works one lane until nothing in it is due;
 * `sweep-webhooks` wakes the lanes that have something due, by turns of the merchants, so that
 * retries happen and losing every queue loses nothing. Jobs only wake: what is due is in the table.
 */
import { object, string } from 'valibot';
import type { Queues } from '../../kernel/queue/queues.ts';
import { done, type Job, jobWithPayload } from '../../kernel/queue/run-job.ts';
import { type ClaimParts, findDueLanes } from './claim-deliveries.ts';
import { isAnyLaneDue } from './claim-statements.ts';
import { byTurns } from './lane-name.ts';
import type { Lanes } from './lanes.ts';
import { webhookLanesOfMerchant_max } from './rules.ts';

export const deliverJob = 'deliver-webhooks';
export const sweepJob = 'sweep-webhooks';

/**
 * Notifies the workers that these lanes have new deliveries. One job each time: a lane whose job is
 * running takes what has come since, instead of finding it at its next look (measured: p99 40 ms
 * instead of 1 s).
 */
export const wakeLanes = async (queues: Queues, lanes: readonly string[]): Promise<void> => {
  await Promise.all(byTurns(lanes).map((lane) => queues.add(deliverJob, { lane })));
};

export interface WebhookJobsParts extends Pick<ClaimParts, 'pool' | 'now'> {
  readonly lanes: Pick<Lanes, 'deliver'>;
  /** Adds a `deliver-webhooks` job for each lane that has none. */
  readonly wake: (lanes: readonly string[]) => Promise<void>;
}

/** The jobs of webhook delivery, for `Queues.work`. Both run on the queue `webhooks`. */
export const webhookJobs = ({ lanes, wake, ...parts }: WebhookJobsParts): Job[] => {
  const deliver = jobWithPayload({
    name: deliverJob,
    queue: 'webhooks',
    payload: object({ lane: string() }),
    run: async ({ lane }) => {
      await lanes.deliver(lane);
      return done;
    },
  });
  const sweep: Job = {
    name: sweepJob,
    queue: 'webhooks',
    due: [isAnyLaneDue],
    run: async () => {
      const due = await findDueLanes(parts);
      // By chance, so that each of a merchant's many lanes has its turn.
      const shuffled = due
        .map((lane) => ({ lane, chance: Math.random() }))
        .toSorted((one, other) => one.chance - other.chance)
        .map(({ lane }) => lane);
      if (due.length > 0) await wake(byTurns(shuffled, webhookLanesOfMerchant_max));
      return done;
    },
  };
  return [deliver, sweep];
};
