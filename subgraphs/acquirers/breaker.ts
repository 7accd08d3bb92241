/**
 * Stops calling an acquirer that does not answer, so that callers get an error at once and it can
 * recover. A skipped call is safe: it certainly reached no bank, and is made later under the same
 * idempotency key.
 */
import { Gauge } from 'prom-client';
import type { BreakerState } from '../rules/banks.ts';
import { metrics } from '../platform/tracing/telemetry.ts';

export interface Breaker {
  /** Whether a call may be made now; while it is open, one trial at a time. */
  lets(): boolean;
  /** What became of a call that was let. */
  note(answered: boolean): void;
  /** Whether calls are withheld, trials apart. */
  isOpen(): boolean;
  /** What it does now, and for how long it has not been closed; 0 while it is. */
  standing(): { readonly state: BreakerState; readonly for_ms: number };
}

/** So many calls in a row without an answer open it. */
const failures_max = 10;
/** How long it stays open before a trial. */
const pause_ms = 5_000;

/** A breaker of one acquirer in this process. `now_ms` is a monotonic clock. */
export const openBreaker = (now_ms: () => number = () => performance.now()): Breaker => {
  let failures = 0;
  let trialAt_ms = -Infinity;
  let openedAt_ms = 0;
  return {
    lets: () => {
      if (failures < failures_max) return true;
      if (now_ms() < trialAt_ms) return false;
      trialAt_ms = now_ms() + pause_ms;
      return true;
    },
    note: (answered) => {
      failures = answered ? 0 : failures + 1;
      if (failures !== failures_max || answered) return;
      openedAt_ms = now_ms();
      trialAt_ms = openedAt_ms + pause_ms;
    },
    isOpen: () => failures >= failures_max,
    standing: () => {
      if (failures < failures_max) return { state: 'closed', for_ms: 0 };
      const state = now_ms() < trialAt_ms ? 'open' : 'half_open';
      return { state, for_ms: now_ms() - openedAt_ms };
    },
  };
};

const watched = new Map<string, Breaker>();
const gaugeName = 'bank_breaker_open';

const addGauge = (): void => {
  const gauge = new Gauge({
    name: gaugeName,
    help: '1 while calls to an acquirer are withheld because it does not answer, by connector, in this process.',
    labelNames: ['connector'],
    collect() {
      for (const [connector, breaker] of watched) this.set({ connector }, breaker.isOpen() ? 1 : 0);
    },
    registers: [],
  });
  metrics.registerMetric(gauge);
};

/**
 * Adds an acquirer's breaker to the gauge `bank_breaker_open` of this process. Returns a function
 * that removes it.
 */
export const watchBreaker = (connector: string, breaker: Breaker): (() => void) => {
  if (watched.size === 0) addGauge();
  watched.set(connector, breaker);
  return () => {
    watched.delete(connector);
    if (watched.size === 0) metrics.removeSingleMetric(gaugeName);
  };
};

/** The breaker of an acquirer in this process; null where it has none. */
export const breakerOf = (connector: string): Breaker | null => watched.get(connector) ?? null;
