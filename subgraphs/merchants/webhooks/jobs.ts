/**
 * The jobs that deliver webhooks. `deliver-webhooks` works one lane until nothing in it is due;
 * `sweep-webhooks` wakes the lanes that have something due, so that retries happen and losing every
 * queue loses nothing. Jobs only wake: what is due is in the table.
 */
import { object, string } from 'valibot';
import { WakeSignal } from '../../kernel/queue/wake-signal.ts';
import type { Queues } from '../../kernel/queue/queues.ts';
import { done, type Job, jobWithPayload } from '../../kernel/queue/run-job.ts';
import { type ClaimParts, findDueLanes, isAnyLaneDue } from './claim-deliveries.ts';
import { attemptDelivery, deliveryLimits, type DeliveryParts } from './deliver-webhook.ts';
import { webhooksInFlightPerLane_max, webhookSweep_ms } from './rules.ts';
import { type ClaimLane, openClaims } from './open-claims.ts';
import { openAttemptStore } from './store-attempts.ts';
import { openTargets, type TargetSwitch } from './webhook-target.ts';

export const deliverJob = 'deliver-webhooks';
export const sweepJob = 'sweep-webhooks';

/**
 * Notifies the workers that these lanes have new deliveries. One job each time: a lane whose job is
 * running takes what has come since, instead of finding it at its next look (measured: p99 40 ms
 * instead of 1 s).
 */
export const wakeLanes = async (queues: Queues, lanes: readonly string[]): Promise<void> => {
  await Promise.all(lanes.map((lane) => queues.add(deliverJob, { lane })));
};

export interface WebhookJobsParts
  extends Omit<DeliveryParts, 'targets' | 'limits' | 'storeAttempt' | 'now'>, TargetSwitch {
  readonly now: () => Temporal.Instant;
  /** Adds a `deliver-webhooks` job for each lane that has none. */
  readonly wake: (lanes: readonly string[]) => Promise<void>;
  /**
   * When it is aborted nothing more is claimed, so that running jobs end with the attempts that
   * they have begun.
   */
  readonly stopping: AbortSignal;
  /** For tests that cannot wait for the real ones. */
  readonly limits?: DeliveryParts['limits'];
}

/** What the lanes of one process share. */
interface Lanes {
  readonly parts: DeliveryParts & ClaimParts;
  readonly claim: ClaimLane;
  /** The wake signal of each lane that is at work. */
  readonly wakeSignals: Map<string, WakeSignal>;
  readonly stopping: AbortSignal;
}

/** The jobs of webhook delivery, for `Queues.work`. Both run on the queue `webhooks`. */
export const webhookJobs = ({
  privateTargets,
  wake,
  stopping,
  ...given
}: WebhookJobsParts): Job[] => {
  const storeAttempt = openAttemptStore(given.pool);
  const parts: DeliveryParts & ClaimParts = {
    ...given,
    storeAttempt,
    targets: openTargets({ privateTargets }),
    limits: given.limits ?? deliveryLimits,
  };
  const claim = openClaims(parts);
  const wakeSignals = new Map<string, WakeSignal>();
  const deliver = jobWithPayload({
    name: deliverJob,
    queue: 'webhooks',
    payload: object({ lane: string() }),
    run: async ({ lane }) => {
      await deliverLane({ parts, claim, wakeSignals, stopping }, lane);
      return done;
    },
  });
  const sweep: Job = {
    name: sweepJob,
    queue: 'webhooks',
    every_ms: webhookSweep_ms,
    due: isAnyLaneDue,
    run: async () => {
      const lanes = await findDueLanes(parts);
      if (lanes.length > 0) await wake(lanes);
      return done;
    },
  };
  return [deliver, sweep];
};

/**
 * Delivers what is due in the lane until nothing is. One run per lane and process: another wake-up
 * only makes the running one look again, so that a receiver that hangs never holds more than one of
 * the queue's places.
 */
const deliverLane = async (
  { parts, claim, wakeSignals, stopping }: Lanes,
  lane: string,
): Promise<void> => {
  const running = wakeSignals.get(lane);
  if (running) return running.wake();
  const wakeSignal = new WakeSignal();
  wakeSignals.set(lane, wakeSignal);
  const inFlight = new Set<Promise<void>>();
  try {
    for (;;) {
      const free = webhooksInFlightPerLane_max - inFlight.size;
      const claimed = free > 0 && !stopping.aborted ? await claim(lane, free) : [];
      for (const delivery of claimed) {
        const attempt = attemptDelivery(parts, delivery).finally(() => {
          inFlight.delete(attempt);
          wakeSignal.wake();
        });
        inFlight.add(attempt);
      }
      if (inFlight.size === 0 && !wakeSignal.woken) return;
      // Rings: an attempt ended, or a wake-up came. Without either, a retry may have become due
      // meanwhile.
      await wakeSignal.wait(webhookSweep_ms);
    }
  } finally {
    wakeSignals.delete(lane);
    await Promise.all(inFlight);
  }
};
