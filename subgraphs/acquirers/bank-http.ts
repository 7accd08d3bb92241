/** What calls to acquirers over HTTP have in common. */
import { Pool } from 'undici';
import * as v from 'valibot';
import { errorCode } from '../platform/tracing/error-code.ts';
import { watchGauges } from '../platform/tracing/telemetry.ts';
import type { BankAnswer, PaymentQuestion, SessionOrder } from './bank.ts';
import type { BreakerState } from '../rules/banks.ts';

/*
 * Schemas of banks' answers. Banks add, drop and change fields without notice: necessary fields are
 * required, and everything else is null when it is absent or unreadable.
 */

export const text = v.pipe(v.string(), v.nonEmpty());

/** A field that is null when it is absent or is no `schema`. */
export const orNull = <Schema extends v.GenericSchema>(schema: Schema) =>
  v.fallback(v.nullable(schema), null);

/** An object whose fields all have a fallback: an absent object counts as empty. */
export const part = <Entries extends v.ObjectEntries>(entries: Entries) => {
  const schema = v.object(entries);
  return v.fallback(schema, v.parse(schema, {}));
};

export const unknown = { kind: 'unknown' } as const;

/** It waits, and no job queries it any more: an alert was raised. */
export const stopped = { kind: 'pending', askAt: null } as const;

/** It is not ordered at all, for a reason of our own. */
export const unavailable = (bankCode: string) =>
  ({ kind: 'declined', failureCode: 'method_unavailable', bankCode }) as const;

/** Whether a payment proves a card, and is only to be authorised. */
export const isVoided = ({ save, method }: Pick<SessionOrder, 'save' | 'method'>): boolean =>
  save?.verification === true && method === 'cards';

/** After this an order that a bank does not know never arrived. */
const arrivesWithin_s = 60;

/** The answer about an order that a bank does not know. */
export const unseenAfter = ({ lastOrderedAt, now }: PaymentQuestion): BankAnswer =>
  Temporal.Instant.compare(lastOrderedAt.add({ seconds: arrivesWithin_s }), now) < 0
    ? { kind: 'unseen' }
    : unknown;

/** Reads what a schema says; null when it cannot be read. */
export const reader =
  <Output>(schema: v.GenericSchema<unknown, Output>) =>
  (body: unknown): Output | null => {
    const { success, output } = v.safeParse(schema, body);
    return success ? output : null;
  };

/** The body of the bank's answer; null when it gave none. */
export const bodyOf = (answer: { readonly kind: string; readonly body?: unknown }): unknown =>
  answer.kind === 'answered' ? answer.body : null;

/** An answer's JSON; null when it is not JSON. */
const parsed = (answer: string): unknown => {
  try {
    return JSON.parse(answer);
  } catch {
    return null;
  }
};

// Stops calling an acquirer that does not answer, so that callers get an error at once and it can
// recover. A skipped call is safe: it certainly reached no bank, and is made later under the same
// idempotency key.

/** So many calls in a row without an answer open it. */
const failures_max = 10;
/** How long it stays open before a trial. */
const pause_ms = 5_000;

/** A breaker of one acquirer in this process. `now_ms` is a monotonic clock. */
export const openBreaker = (now_ms: () => number = () => performance.now()) => {
  let failures = 0;
  let trialAt_ms = -Infinity;
  let openedAt_ms = 0;
  return {
    /** Whether a call may be made now; while it is open, one trial at a time. */
    lets: (): boolean => {
      if (failures < failures_max) return true;
      if (now_ms() < trialAt_ms) return false;
      trialAt_ms = now_ms() + pause_ms;
      return true;
    },
    /** What became of a call that was let. */
    note: (answered: boolean): void => {
      failures = answered ? 0 : failures + 1;
      if (failures !== failures_max || answered) return;
      openedAt_ms = now_ms();
      trialAt_ms = openedAt_ms + pause_ms;
    },
    /** Whether calls are refused, except for trials. */
    isOpen: (): boolean => failures >= failures_max,
    /** What it does now, and for how long it has not been closed; 0 while it is. */
    standing: (): { readonly state: BreakerState; readonly for_ms: number } => {
      if (failures < failures_max) return { state: 'closed', for_ms: 0 };
      const state = now_ms() < trialAt_ms ? 'open' : 'half_open';
      return { state, for_ms: now_ms() - openedAt_ms };
    },
  };
};

export type Breaker = ReturnType<typeof openBreaker>;

const watched = new Map<string, Breaker>();

watchGauges({
  name: 'bank_breaker_open',
  help: '1 while calls to an acquirer are withheld because it does not answer, by connector, in this process.',
  labelNames: ['connector'],
  collect() {
    this.reset();
    for (const [connector, breaker] of watched) this.set({ connector }, breaker.isOpen() ? 1 : 0);
  },
});

/** The breaker of an acquirer in this process; null where it has none. */
export const breakerOf = (connector: string): Breaker | null => watched.get(connector) ?? null;

const connect_ms = 3_000;
const keepAlive_ms = 30_000;
const connections = 32;

/** What goes wrong before a connection stands. */
const unconnected: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** What an acquirer's answers mean. */
interface Meaning<Answer> {
  /** The meaning of a status and its JSON; of a body that is no JSON, null. */
  readonly read: (status: number, body: unknown) => Answer;
  /** There was no answer: why certainly nothing was sent; null when something may have been. */
  readonly missed: (unsentBecause: string | null) => Answer;
}

/**
 * Opens an acquirer's API: a pool of kept connections behind a breaker. Nothing is connected until
 * it is called.
 */
export const openBankApi = <Answer extends { readonly kind: string }>(
  connector: string,
  url: string,
  { read, missed }: Meaning<Answer>,
) => {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, {
    connections,
    keepAliveTimeout: keepAlive_ms,
    connect: { timeout: connect_ms },
    allowH2: false,
  });
  const breaker = openBreaker();
  watched.set(connector, breaker);
  return {
    /** The prefix of every call's path. */
    base: pathname.replace(/\/$/, ''),
    /** Makes one attempt of a call. */
    attempt: async (request: Parameters<typeof pool.request>[0]): Promise<Answer> => {
      if (!breaker.lets()) return missed('breaker_open');
      try {
        const response = await pool.request(request);
        const answer = read(response.statusCode, parsed(await response.body.text()));
        breaker.note(answer.kind !== 'unknown');
        return answer;
      } catch (error) {
        breaker.note(false);
        const code = errorCode(error);
        return missed(unconnected.has(code) ? code : null);
      }
    },
    close: async (): Promise<void> => {
      watched.delete(connector);
      await pool.destroy();
    },
  };
};
