/**
 * What a merchant feels of a loss: calls at a steady pace, a read and a keyed create in turn, none
 * of which is made again. How many fail, how slow they are, and how long it lasts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Merchant } from '../support/merchant.ts';

/** The pace does not wait for answers, as other merchants do not. */
const pace_ms = 100;
/** While so many have no answer, no more are made. */
const inFlight_max = 200;
/** A call that takes longer is felt, though it is answered. */
const slow_ms = 2_000;

interface Call {
  readonly began_ms: number;
  took_ms: number;
  /** Null while there is no answer. */
  isGood: boolean | null;
}

/** What was felt in a stretch of time. */
export interface Felt {
  readonly calls: number;
  readonly errors: number;
  /** Errors of the worst second. */
  readonly errorsPerSecond_max: number;
  readonly p99_ms: number;
  /** From the beginning until the last call that failed or was slow had ended; 0 without one. */
  readonly felt_ms: number;
}

export interface SteadyCaller {
  /** Waits for the calls begun between two moments of `performance.now()`, and sums them up. */
  felt(from_ms: number, to_ms: number): Promise<Felt>;
  stop(): Promise<void>;
}

const sumUp = (calls: readonly Call[], from_ms: number): Felt => {
  const failed = calls.filter(({ isGood }) => isGood !== true);
  const bySecond = Map.groupBy(failed, ({ began_ms }) => Math.floor((began_ms - from_ms) / 1_000));
  const troubled = calls.filter((call) => call.isGood !== true || call.took_ms > slow_ms);
  const sorted = calls.map(({ took_ms }) => took_ms).toSorted((a, b) => a - b);
  return {
    calls: calls.length,
    errors: failed.length,
    errorsPerSecond_max: Math.max(0, ...Array.from(bySecond.values(), (list) => list.length)),
    p99_ms: sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0,
    felt_ms: Math.max(0, ...troubled.map((call) => call.began_ms + call.took_ms - from_ms)),
  };
};

/** Begins to call as a merchant of its own, until `stop`. */
export const startCalling = (merchant: Merchant): SteadyCaller => {
  const calls: Call[] = [];
  const inFlight = new Set<Promise<void>>();
  const stopping = new AbortController();
  const make = async (number: number): Promise<void> => {
    const call: Call = { began_ms: performance.now(), took_ms: 0, isGood: null };
    calls.push(call);
    const asked =
      number % 2 === 0
        ? merchant.call('GET', '/balance')
        : merchant.call(
            'POST',
            '/payments',
            { amount: 1_000, order_id: `steady-${number}` },
            { 'idempotency-key': `steady-${number}` },
          );
    const status = await asked.then(
      (answer) => answer.status,
      () => 0,
    );
    call.took_ms = performance.now() - call.began_ms;
    call.isGood = status === 200 || status === 201;
  };
  const calling = (async () => {
    for (let number = 0; !stopping.signal.aborted; number += 1) {
      if (inFlight.size < inFlight_max) {
        const made = make(number).finally(() => inFlight.delete(made));
        inFlight.add(made);
      }
      await sleep(pace_ms);
    }
  })();
  return {
    felt: async (from_ms, to_ms) => {
      await Promise.all(inFlight);
      const within = calls.filter(({ began_ms }) => began_ms >= from_ms && began_ms <= to_ms);
      return sumUp(within, from_ms);
    },
    stop: async () => {
      stopping.abort();
      await calling;
      await Promise.all(inFlight);
    },
  };
};
