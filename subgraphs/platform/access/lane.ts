/**
 * The lane of requests that callers compose themselves: documents, live reads and lists. Each of
 * their statements waits here for its turn, so that no caller slows down the others: one at a time
 * for each caller, one for two cores of PostgreSQL for all of them. Their computation continues in
 * slices, one for each turn of the event loop. The caller with the least use goes first. Creates,
 * changes, reads by id, webhooks, schedules and notifications of banks never wait.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { availableParallelism } from 'node:os';
import { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Principal } from './principal.ts';

/** The maximum total time that a call waits while none of its statements runs. */
const wait_max_ms = 10_000;
/** Half of what a caller has used is forgotten after so long. */
const forgotten_ms = 10_000;
/** Callers whose use is known; beyond that, the least recently seen start again. */
const callers_max = 10_000;
/** PostgreSQL is taken to have as many cores as this machine. */
const statementsAtOnce = Math.max(1, Math.floor(availableParallelism() / 2));

interface Work {
  readonly caller: string;
  waited_ms: number;
  isRunning: boolean;
  /** Refuse the waiting statements. */
  readonly waiting: Set<() => void>;
  /** Ends the count of its waiting time; null: it does not wait. */
  stopClock: (() => void) | null;
}

const works = new AsyncLocalStorage<Work | undefined>();

/** Runs `work` as one call of the caller; its statements wait for their turns. */
export const inLane = <Result>(caller: string, work: () => Result): Result =>
  works.run({ caller, waited_ms: 0, isRunning: false, waiting: new Set(), stopClock: null }, work);

/**
 * Runs `work` outside of the lane: a change, or work that all callers share and that must not wait
 * for the turn of the first caller to need it.
 */
export const outsideOfLane = <Result>(work: () => Result): Result => works.run(undefined, work);

/** Whether what runs now is in the lane. */
export const isInLane = (): boolean => works.getStore() !== undefined;

const tooBusy = (): GraphQLError =>
  new GraphQLError(
    'Too many documents and lists are waiting to be read; request less at a time, or try again in a second.',
    { extensions: { code: 'rate_limited', http: { status: 429 } } },
  );

/** What callers have used, in milliseconds, and when that was counted. */
const used = new LRUCache<string, { readonly used_ms: number; readonly at_ms: number }>({
  max: callers_max,
});

const usedBy = (caller: string): number => {
  const known = used.get(caller);
  return known ? known.used_ms * 2 ** ((known.at_ms - performance.now()) / forgotten_ms) : 0;
};

const use = (caller: string, took_ms: number): void =>
  void used.set(caller, { used_ms: usedBy(caller) + took_ms, at_ms: performance.now() });

/** Calls that wait, by their callers. */
class Queue {
  readonly #waiting = new Map<string, Set<() => void>>();

  add(caller: string, go: () => void): void {
    this.#waiting.set(caller, (this.#waiting.get(caller) ?? new Set()).add(go));
  }

  remove(caller: string, go: () => void): void {
    const ofCaller = this.#waiting.get(caller);
    ofCaller?.delete(go);
    if (ofCaller?.size === 0) this.#waiting.delete(caller);
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Takes out the first call of the caller with the least use, except those in `busy`. */
  take(busy?: ReadonlySet<string>): { readonly caller: string; readonly go: () => void } | null {
    const callers = [...this.#waiting.keys()].filter((caller) => !busy?.has(caller));
    const [first, ...others] = callers;
    if (first === undefined) return null;
    const caller = others.reduce(
      (least, other) => (usedBy(other) < usedBy(least) ? other : least),
      first,
    );
    const [go = () => {}] = this.#waiting.get(caller) ?? [];
    this.remove(caller, go);
    return { caller, go };
  }
}

const statements = new Queue();
const running = new Set<string>();

/** Assigns the free turns. */
const giveTurns = (): void => {
  while (running.size < statementsAtOnce) {
    const next = statements.take(running);
    if (!next) return;
    running.add(next.caller);
    next.go();
  }
};

/** Counts the time of a call that waits now; beyond the maximum it is refused. */
const startClock = (work: Work): void => {
  if (work.waiting.size === 0 || work.isRunning || work.stopClock) return;
  const began_ms = performance.now();
  const deadline = setTimeout(() => {
    work.stopClock?.();
    for (const refuse of work.waiting) refuse();
  }, wait_max_ms - work.waited_ms);
  work.stopClock = () => {
    clearTimeout(deadline);
    work.waited_ms += performance.now() - began_ms;
    work.stopClock = null;
  };
};

/** Waits for a turn. Rejects with `rate_limited` when the call has waited too long. */
const takeTurn = async (work: Work): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const refuse = (): void => {
    work.waiting.delete(refuse);
    statements.remove(work.caller, go);
    reject(tooBusy());
  };
  const go = (): void => {
    work.waiting.delete(refuse);
    work.stopClock?.();
    work.isRunning = true;
    resolve();
  };
  work.waiting.add(refuse);
  statements.add(work.caller, go);
  giveTurns();
  startClock(work);
  await promise;
};

const slices = new Queue();
let isSlicing = false;

/** Lets one call continue in each turn of the event loop, and counts its time, until none waits. */
const giveSlices = (): void => {
  let caller: string | undefined;
  let began_ms = 0;
  setImmediate(() => {
    const next = slices.take();
    caller = next?.caller;
    began_ms = performance.now();
    next?.go();
  });
  // Of two immediates in one turn the second runs when the call waits for something again.
  setImmediate(() => {
    if (caller !== undefined) use(caller, performance.now() - began_ms);
    isSlicing = !slices.isEmpty;
    if (isSlicing) giveSlices();
  });
};

/** In the lane: continues when the event loop has served all others. */
export const nextSlice = async (): Promise<void> => {
  const caller = works.getStore()?.caller;
  if (caller === undefined) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  slices.add(caller, resolve);
  if (!isSlicing) {
    isSlicing = true;
    outsideOfLane(giveSlices);
  }
  await promise;
};

/**
 * Sends a statement: at once, or in the lane in its turn. Rejects with `rate_limited` when its call
 * has waited too long.
 */
export const inTurn = async <Result>(send: () => Promise<Result>): Promise<Result> => {
  const work = works.getStore();
  if (!work) return send();
  await takeTurn(work);
  const began_ms = performance.now();
  try {
    return await send();
  } finally {
    running.delete(work.caller);
    work.isRunning = false;
    startClock(work);
    use(work.caller, performance.now() - began_ms);
    giveTurns();
    await nextSlice();
  }
};

// Callers that share a turn in the lane of documents, live reads and lists.

/** The header of a call in the lane on its way to a subgraph in another process. */
export const laneHeader = 'x-lane';
/** Its value for a call whose answer is measured (`AnswerMeter`); other calls' is empty. */
export const measuredInLane = 'measured';

/**
 * The name under which a call waits in the lane: all keys and buyers of a merchant share one, its
 * people another, and each person of the platform has their own. Null: it never waits.
 */
export const laneOf = (principal: Principal): string | null => {
  switch (principal.kind) {
    case 'key':
    case 'buyer':
      return `merchant ${principal.merchantId}`;
    case 'operator':
      return principal.merchantId === null
        ? `person ${principal.subject}`
        : `people ${principal.merchantId}`;
    case 'edge':
    case 'service':
      return null;
  }
};
