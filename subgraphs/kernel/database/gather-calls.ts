/**
 * Micro-batches: calls that are under way at the same moment share one statement, as a database's
 * group commit does. A call never waits for company: what arrives while both slots are taken is
 * sent with the first slot that is free, and a call by itself runs the statement of one call.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';
import { isDatabaseLost } from '../service/database-lost.ts';
import { spanned } from '../service/tracing/tracing.ts';
import { spanOf } from './statement.ts';

/** An operation whose calls may share a statement. */
export interface Gathered<Call, Result> {
  /** What the span of a call is called: the name of its statement. */
  readonly name: string;
  /** Whose a call is. Callers take turns where not all calls have room. */
  readonly callerOf: (call: Call) => string;
  readonly alone: (pool: pg.Pool, call: Call) => Promise<Result>;
  /** One result for each call, in their order. All of it happens, or nothing. */
  readonly together: (pool: pg.Pool, calls: readonly Call[]) => Promise<readonly Result[]>;
}

/** Calls in one statement. */
export const batch_max = 64;
/** Statements under way: while one commits, the next is worked. */
export const batchesInFlight_max = 2;
/** Calls of a failed batch that are tried again at the same time. */
const retries_max = 4;
/** How long the calls of one whose call failed are kept out of batches. */
const apart_ms = 5_000;

interface Waiting<Call, Result> {
  readonly call: Call;
  readonly answer: PromiseWithResolvers<Result>;
}

// A batch belongs to no call, so it runs in no call's trace.
const outsideOfCalls = AsyncLocalStorage.snapshot();

/** The calls of one operation on one pool. */
const openGathering = <Call, Result>(
  pool: pg.Pool,
  { callerOf, alone, together }: Gathered<Call, Result>,
): ((call: Call) => Promise<Result>) => {
  /** Calls that wait, by caller; the callers in the order of their turns. */
  const waiting = new Map<string, Waiting<Call, Result>[]>();
  const apartUntil = new Map<string, number>();
  let inFlight = 0;
  let isSending = false;

  const isApart = (caller: string): boolean => {
    const until = apartUntil.get(caller);
    if (until === undefined) return false;
    if (performance.now() < until) return true;
    apartUntil.delete(caller);
    return false;
  };

  const take = (): readonly Waiting<Call, Result>[] => {
    const batch: Waiting<Call, Result>[] = [];
    for (const [caller, calls] of waiting) {
      if (batch.length === batch_max) break;
      batch.push(...calls.splice(0, 1));
      // A map is walked in the order of insertion: the caller's next turn is behind all others.
      waiting.delete(caller);
      if (calls.length > 0) waiting.set(caller, calls);
    }
    return batch;
  };

  const runAlone = ({ call, answer }: Waiting<Call, Result>): Promise<void> =>
    alone(pool, call).then(answer.resolve, answer.reject);

  /** Whose call fails by itself, too, makes no other batch fail for a while. */
  const runEach = async (batch: readonly Waiting<Call, Result>[]): Promise<void> => {
    const left = batch.values();
    const runNext = async (): Promise<void> => {
      for (const one of left) {
        one.answer.promise.catch((error: unknown) => {
          if (!isDatabaseLost(error))
            apartUntil.set(callerOf(one.call), performance.now() + apart_ms);
        });
        await runAlone(one);
      }
    };
    await Promise.all(Array.from({ length: retries_max }, runNext));
  };

  const runTogether = async (batch: readonly Waiting<Call, Result>[]): Promise<void> => {
    try {
      const results = await together(
        pool,
        batch.map(({ call }) => call),
      );
      for (const [place, result] of results.entries()) batch[place]?.answer.resolve(result);
    } catch (error) {
      // What was sent on a lost connection may have taken effect: only its caller may repeat it.
      if (isDatabaseLost(error)) for (const { answer } of batch) answer.reject(error);
      else await runEach(batch);
    }
  };

  const send = (): void => {
    while (inFlight < batchesInFlight_max && waiting.size > 0) {
      const batch = take();
      const [first] = batch;
      inFlight += 1;
      void (first && batch.length === 1 ? runAlone(first) : runTogether(batch)).then(() => {
        inFlight -= 1;
        send();
      });
    }
  };

  return (call) => {
    const caller = callerOf(call);
    if (isApart(caller)) return outsideOfCalls(alone, pool, call);
    const answer = Promise.withResolvers<Result>();
    const ofCaller = waiting.get(caller);
    if (ofCaller) ofCaller.push({ call, answer });
    else waiting.set(caller, [{ call, answer }]);
    // Behind all that this turn of the event loop brings.
    if (!isSending && inFlight < batchesInFlight_max) {
      isSending = true;
      outsideOfCalls(setImmediate, () => {
        isSending = false;
        send();
      });
    }
    return answer.promise;
  };
};

/** The operation with its calls gathered: those of each pool by themselves. */
export const gathered = <Call, Result>(
  operation: Gathered<Call, Result>,
): ((pool: pg.Pool, call: Call) => Promise<Result>) => {
  const gatherings = new WeakMap<pg.Pool, (call: Call) => Promise<Result>>();
  const gatheringOn = (pool: pg.Pool): ((call: Call) => Promise<Result>) => {
    const gathering = gatherings.get(pool) ?? openGathering(pool, operation);
    gatherings.set(pool, gathering);
    return gathering;
  };
  return (pool, call) => spanned(spanOf(operation), () => gatheringOn(pool)(call));
};
