/**
 * The lanes that one process works. A lane is worked until nothing in it is due: deliveries are
 * claimed for it, or handed over by the relay of this process with their leases.
 */
import { WakeSignal } from '../../kernel/queue/wake-signal.ts';
import type { Handover } from '../../kernel/events/number-events.ts';
import type { ClaimedDelivery, ClaimParts } from './claim-deliveries.ts';
import { attemptDelivery, deliveryLimits, type DeliveryParts } from './deliver-webhook.ts';
import { readHanded } from './make-deliveries.ts';
import { LaneTurns } from './lane-turns.ts';
import { openClaims } from './open-claims.ts';
import {
  webhookLanesOfMerchant_max,
  webhooksInFlightPerLane_max,
  webhookSweep_ms,
} from './rules.ts';
import { openAttemptStore } from './store-attempts.ts';
import type { TargetSwitch } from '../../kernel/service/webhook-url.ts';
import { openTargets } from './webhook-target.ts';

export interface LanesParts
  extends Omit<DeliveryParts, 'targets' | 'limits' | 'storeAttempt' | 'now'>, TargetSwitch {
  readonly now: () => Temporal.Instant;
  /**
   * When it is aborted nothing more is claimed, so that running lanes end with the attempts that
   * they have begun.
   */
  readonly stopping: AbortSignal;
  /** Attempts of what was handed over: whoever ends the process waits for them. */
  readonly attempts?: Set<Promise<void>>;
  /** For tests that cannot wait for the real ones. */
  readonly limits?: DeliveryParts['limits'];
}

export interface Lanes {
  /**
   * Delivers what is due in a lane until nothing is, or makes the one at work look again. One whose
   * owner has as many at work as it may waits for these, and the promise does not wait for it.
   */
  deliver(lane: string): Promise<void>;
  /** Makes the lanes that are at work here look again; gives the others. */
  wakeHere(lanes: readonly string[]): readonly string[];
  /** Takes over deliveries from the relay of this process. */
  readonly handover: Handover;
}

/** One lane at work. */
interface LaneRun {
  readonly lane: string;
  readonly signal: WakeSignal;
  readonly inFlight: Set<Promise<void>>;
  /** Whether something may be due that nobody has claimed. */
  mayBeDue: boolean;
}

/**
 * So many attempts that were handed over are under way in a process; what exceeds it is claimed by
 * whoever has room.
 */
const handed_max = 100;

class LanesHere implements Lanes {
  readonly #parts: Omit<DeliveryParts, 'now'> & ClaimParts;
  readonly #claim: ReturnType<typeof openClaims>;
  readonly #stopping: AbortSignal;
  readonly #handed: Set<Promise<void>>;
  readonly #runs = new Map<string, LaneRun>();
  readonly #turns = new LaneTurns();
  /** How many attempts that were handed over are under way, by merchant. */
  readonly #handedOf = new Map<string, number>();

  constructor({ privateTargets, stopping, attempts, limits, ...given }: LanesParts) {
    this.#parts = {
      ...given,
      storeAttempt: openAttemptStore(given.pool),
      targets: openTargets({ privateTargets }),
      limits: limits ?? deliveryLimits,
    };
    this.#claim = openClaims(this.#parts);
    this.#stopping = stopping;
    this.#handed = attempts ?? new Set();
  }

  readonly handover: Handover = {
    ask: () => {
      const { limits, now } = this.#parts;
      const handed = [...this.#handedOf];
      const taken = handed.reduce((total, [, count]) => total + count, 0);
      return {
        room: this.#stopping.aborted ? 0 : Math.max(0, handed_max - taken),
        lease_ms: limits.deadline_ms + limits.leaseMargin_ms,
        now: now(),
        full: handed.flatMap(([id, count]) => (count < webhookLanesOfMerchant_max ? [] : [id])),
      };
    },
    take: (handed) => {
      for (const delivery of readHanded(handed)) this.#take(delivery);
    },
  };

  deliver(lane: string): Promise<void> {
    if (this.wakeHere([lane]).length === 0 || !this.#turns.mayBegin(lane)) return Promise.resolve();
    return this.#workByTurns(this.#begin(lane, true));
  }

  wakeHere(lanes: readonly string[]): readonly string[] {
    return lanes.filter((lane) => {
      const run = this.#runs.get(lane);
      if (!run) return true;
      run.mayBeDue = true;
      run.signal.wake();
      return false;
    });
  }

  #take(delivery: ClaimedDelivery): void {
    const running = this.#runs.get(delivery.lane);
    const run = running ?? this.#begin(delivery.lane, false);
    this.#countHanded(delivery, 1);
    const attempt = this.#attempt(run, delivery).finally(() => {
      this.#countHanded(delivery, -1);
      this.#handed.delete(attempt);
    });
    this.#handed.add(attempt);
    if (running) return;
    this.#workByTurns(run).catch((error: unknown) =>
      this.#parts.log.warn({ lane: run.lane, err: error }, 'a lane stopped; the sweep goes on'),
    );
  }

  #countHanded({ merchantId }: ClaimedDelivery, by: number): void {
    const count = (this.#handedOf.get(merchantId) ?? 0) + by;
    if (count > 0) this.#handedOf.set(merchantId, count);
    else this.#handedOf.delete(merchantId);
  }

  #begin(lane: string, isDue: boolean): LaneRun {
    // Whoever waited was woken for something.
    const mayBeDue = this.#turns.begin(lane) || isDue;
    const run = { lane, signal: new WakeSignal(), inFlight: new Set<Promise<void>>(), mayBeDue };
    this.#runs.set(lane, run);
    return run;
  }

  #attempt({ inFlight, signal }: LaneRun, delivery: ClaimedDelivery): Promise<void> {
    const attempt = attemptDelivery(this.#parts, delivery).finally(() => {
      inFlight.delete(attempt);
      signal.wake();
    });
    inFlight.add(attempt);
    return attempt;
  }

  /** Works a lane, and then those of its owner that wait for their turn, in the same place. */
  async #workByTurns(first: LaneRun): Promise<void> {
    let run: LaneRun | null = first;
    while (run !== null) {
      const { lane } = run;
      try {
        await this.#work(run);
      } catch (error) {
        this.#turns.drop(lane);
        throw error;
      }
      const next = this.#turns.end(lane);
      run = next === null || this.#stopping.aborted ? null : this.#begin(next, true);
    }
  }

  /**
   * Works a lane. One run per lane and process, so that a receiver that hangs never holds more than
   * one of the queue's places.
   */
  async #work(run: LaneRun): Promise<void> {
    const { lane, signal, inFlight } = run;
    try {
      for (;;) {
        const free = webhooksInFlightPerLane_max - inFlight.size;
        if (run.mayBeDue && free > 0 && !this.#stopping.aborted)
          for (const delivery of await this.#claim(lane, free)) void this.#attempt(run, delivery);
        if (inFlight.size === 0 && !signal.woken) return;
        // Rings: an attempt ended, or a wake-up came. Without either, a retry may have become due
        // meanwhile.
        if (!(await signal.wait(webhookSweep_ms))) run.mayBeDue = true;
      }
    } finally {
      this.#runs.delete(lane);
      await Promise.all(inFlight);
    }
  }
}

/** The lanes of this process. */
export const openLanes = (parts: LanesParts): Lanes => new LanesHere(parts);
