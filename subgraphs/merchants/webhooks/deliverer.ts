/**
 * The deliverer of a process. Code that makes deliveries due notifies it of their lanes. It claims
 * due deliveries, posts them, and repeats while there are more. The sweep finds other lanes, so a
 * wake-up may be lost.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { isPassing } from '../../platform/alerts/dead-letters.ts';
import { type Job, sweep } from '../../platform/queue/run-job.ts';
import type { WebhookLane } from '../../platform/bus/bus.ts';
import type { TargetSwitch } from '../../platform/http/webhook-url.ts';
import {
  claimDeliveries,
  findDueLanes,
  isAnyLaneDue,
  type Asking,
  type ClaimedDelivery,
} from './deliveries.ts';
import { attemptDelivery, deliveryLimits, type DeliveryDeps } from './deliver-webhook.ts';
import {
  webhooksInFlight_max,
  webhooksInFlightOfMerchant_max,
  webhooksInFlightPerLane_max,
  webhooksInFlightToOwn_max,
} from './rules.ts';
import { openTargets } from './webhook-target.ts';

interface DelivererDeps extends Omit<DeliveryDeps, 'targets' | 'limits'>, TargetSwitch {
  /** For tests that cannot wait for the real ones. */
  readonly limits?: DeliveryDeps['limits'];
}

/** The rest after a claim, in which lanes gather: a claim is a transaction, whatever its size. */
const claimRest_ms = 5;
const lanesPerClaim_max = 100;
/** Queued lanes of one merchant; the sweep finds the others. */
const waitingOfMerchant_max = 1_000;
const busy_min = 100;

/** What is in flight in this process, by what bounds it. */
class InFlight {
  readonly #counts = new Map<string, number>();

  /** How many more of a lane may be begun. */
  room(lane: WebhookLane): number {
    return Math.min(...boundsOf(lane).map(([name, most]) => most - (this.#counts.get(name) ?? 0)));
  }

  add(lane: WebhookLane, count: number): void {
    for (const [name] of boundsOf(lane)) {
      const sum = (this.#counts.get(name) ?? 0) + count;
      if (sum === 0) this.#counts.delete(name);
      else this.#counts.set(name, sum);
    }
  }
}

/**
 * A merchant can use any number of own addresses, so they leave room for its endpoints. Names of
 * their lanes contain a `#`.
 */
const boundsOf = ({ merchantId, lane }: WebhookLane): readonly (readonly [string, number])[] => [
  [lane, webhooksInFlightPerLane_max],
  [merchantId, webhooksInFlightOfMerchant_max],
  ['all', webhooksInFlight_max],
  ...(lane.includes('#') ? [[`own/${merchantId}`, webhooksInFlightToOwn_max] as const] : []),
];

export class Deliverer {
  readonly #parts: DeliveryDeps & { readonly targets: Dispatcher };
  /** Lanes that may have due deliveries, by merchant; the last served merchant is last. */
  readonly #waiting = new Map<string, Set<string>>();
  readonly #inFlight = new InFlight();
  readonly #attempts = new Set<Promise<void>>();
  #claiming: Promise<void> | null = null;
  #isClosed = false;

  constructor({ privateTargets, limits, ...given }: DelivererDeps) {
    this.#parts = {
      ...given,
      limits: limits ?? deliveryLimits,
      targets: openTargets({ privateTargets }),
    };
  }

  /** Whether it is so busy that other deliverers should be woken. */
  get isBusy(): boolean {
    return this.#attempts.size >= busy_min;
  }

  /** Reports that these lanes may have due deliveries. */
  wake(lanes: readonly WebhookLane[]): void {
    for (const { merchantId, lane } of lanes) {
      const waiting = this.#waiting.get(merchantId) ?? new Set();
      if (waiting.size < waitingOfMerchant_max) waiting.add(lane);
      this.#waiting.set(merchantId, waiting);
    }
    this.#begin();
  }

  /** Stops claiming; resolves when all running attempts have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#claiming;
    await Promise.all(this.#attempts);
  }

  #begin(): void {
    if (this.#isClosed || this.#claiming) return;
    this.#claiming = this.#claimAll().finally(() => (this.#claiming = null));
  }

  async #claimAll(): Promise<void> {
    for (;;) {
      const asking = this.#isClosed ? [] : this.#choose();
      if (asking.length === 0) return;
      await this.#claim(asking);
      await sleep(claimRest_ms);
    }
  }

  /** Takes queued lanes with room, giving each merchant a share of it. */
  #choose(): readonly Asking[] {
    const chosen: Asking[] = [];
    for (const [merchantId, lanes] of this.#waiting) {
      const before = chosen.length;
      const share = Math.ceil(webhooksInFlightToOwn_max / lanes.size);
      for (const lane of lanes) {
        const room = Math.min(share, this.#inFlight.room({ merchantId, lane }));
        if (room <= 0) continue;
        lanes.delete(lane);
        // The room is reserved until the claim returns its count.
        this.#inFlight.add({ merchantId, lane }, room);
        chosen.push({ merchantId, lane, room });
        if (chosen.length === lanesPerClaim_max) break;
      }
      if (chosen.length === before) continue;
      this.#waiting.delete(merchantId);
      if (lanes.size > 0) this.#waiting.set(merchantId, lanes);
      if (chosen.length === lanesPerClaim_max) break;
    }
    return chosen;
  }

  async #claim(asking: readonly Asking[]): Promise<void> {
    try {
      const claimed = Map.groupBy(await claimDeliveries(this.#parts, asking), ({ lane }) => lane);
      for (const { room, ...lane } of asking) {
        const deliveries = claimed.get(lane.lane) ?? [];
        this.#inFlight.add(lane, deliveries.length - room);
        for (const delivery of deliveries) this.#attempt(delivery);
        if (deliveries.length === room) this.wake([lane]);
      }
    } catch (error) {
      for (const { room, ...lane } of asking) this.#inFlight.add(lane, -room);
      this.#parts.log.warn({ err: error }, 'could not claim webhooks; the sweep will find them');
      // One lane must not delay the others of its claim.
      if (asking.length > 1 && !isPassing(error)) for (const one of asking) await this.#retry(one);
    }
  }

  async #retry(one: Asking): Promise<void> {
    this.#inFlight.add(one, one.room);
    await this.#claim([one]);
  }

  #attempt(delivery: ClaimedDelivery): void {
    const attempt = attemptDelivery(this.#parts, delivery).finally(() => {
      this.#attempts.delete(attempt);
      this.#inFlight.add(delivery, -1);
      if (this.#waiting.size > 0) this.#begin();
    });
    this.#attempts.add(attempt);
  }
}

/** Wakes the deliverers of all processes for these lanes. */
export type WakeLanes = (lanes: readonly WebhookLane[]) => void;

/** The job that finds lanes with due deliveries: retries, and those whose wake-up was lost. */
export const webhookJobs = ({
  pool,
  now,
  wake,
}: Pick<DeliveryDeps, 'pool' | 'now'> & { readonly wake: WakeLanes }): readonly Job[] => [
  sweep('sweep-webhooks', [isAnyLaneDue], async () => wake(await findDueLanes(pool, now()))),
];
