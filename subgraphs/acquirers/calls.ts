/**
 * Calls to acquirers are observed: as spans and in the metrics, counted by operation and method, and
 * recorded by their operation.
 * Counts this process's calls to banks by five minutes and writes the counts every ten seconds,
 * outside the payments' transactions. It is telemetry: a killed process loses its counts since the
 * last write. A row belongs to one process and is written whole, so that writing it twice counts
 * nothing twice.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Counter } from 'prom-client';
import { rfc3339 } from '../../schema/scalars.ts';
import { outsideOfLane } from '../platform/access/lane.ts';
import {
  run,
  type Runner,
  type Statement,
  asRow,
  newRowId,
} from '../platform/database/statement.ts';
import { metrics, bankCalls, spanned } from '../platform/tracing/telemetry.ts';
import {
  durationsKept,
  healthBucket_min,
  type BankOperation,
  type RouteMethod,
  methodsOf,
} from '../rules/banks.ts';
import type { Mode } from '../rules/mode.ts';
import { breakerOf } from './bank-http.ts';
import { bufferInto } from '../platform/database/batch-calls.ts';
import type { BankCall } from './entities.ts';
import type { Bank, Question } from './bank.ts';

const flush_ms = 10_000;
const bucket_ms = healthBucket_min * 60_000;
/** Rows that wait while the database is unavailable; a bank has about twenty in a bucket. */
const rows_max = 2_000;

const uncounted = new Counter({
  name: 'bank_calls_uncounted_total',
  help: 'Bank calls missing from the bank health statistics, because the database was unavailable for hours.',
  registers: [metrics],
});

const written = ['calls', 'failures', 'durations_ms', 'breaker', 'breaker_since', 'flushed_at'];

const upsert: Statement = {
  name: 'bank_health.upsert',
  text: `insert into bank_health select * from jsonb_populate_recordset(null::bank_health, $1::jsonb)
    on conflict (at, connector, mode, operation, method, process)
    do update set ${written.map((column) => `${column} = excluded.${column}`).join(', ')}`,
};

/** A call that has ended. */
interface CountedCall {
  readonly connector: string;
  readonly mode: Mode;
  readonly operation: BankOperation;
  /** Empty where the call does not name it. */
  readonly method: RouteMethod | '';
  readonly answered: boolean;
  readonly duration_ms: number;
}

interface Counted extends Omit<CountedCall, 'answered' | 'duration_ms'> {
  readonly at: Temporal.Instant;
  calls: number;
  failures: number;
  /** Of the last answers, oldest first. */
  readonly durations_ms: number[];
  /** It was counted in since it was last written. */
  changed: boolean;
}

const bucketOf = (now: Temporal.Instant): Temporal.Instant =>
  Temporal.Instant.fromEpochMilliseconds(Math.floor(now.epochMilliseconds / bucket_ms) * bucket_ms);

const breakerColumns = (connector: string, now: Temporal.Instant) => {
  const standing = breakerOf(connector)?.standing();
  if (!standing) return { breaker: null, breaker_since: null };
  const { state, for_ms } = standing;
  const since = now.subtract({ milliseconds: Math.round(for_ms) });
  return { breaker: state, breaker_since: state === 'closed' ? null : rfc3339(since) };
};

/** A counter of this process. `now` is the real time. */
export const openCallCounter = (
  runner: Runner,
  now: () => Temporal.Instant = () => Temporal.Now.instant(),
) => {
  const process_ = `${hostname().slice(0, 60)}:${process.pid}:${randomUUID().slice(0, 8)}`;
  const rows = new Map<string, Counted>();
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  const columnsOf = ({ at, ...row }: Counted, moment: Temporal.Instant) => ({
    ...row,
    at: rfc3339(at),
    process: process_,
    ...breakerColumns(row.connector, moment),
    flushed_at: rfc3339(moment),
  });
  const writeAll = async (): Promise<void> => {
    const moment = now();
    const changed = [...rows.values()].filter((row) => row.changed);
    if (changed.length === 0) return;
    for (const row of changed) row.changed = false;
    try {
      await run(runner, upsert, [JSON.stringify(changed.map((row) => columnsOf(row, moment)))]);
    } catch {
      // The next write includes it: no caller waits for it.
      for (const row of changed) row.changed = true;
    }
    const present = bucketOf(moment);
    for (const [name, { at, changed: waits }] of rows)
      if (!waits && !at.equals(present)) rows.delete(name);
  };
  const write = (): Promise<void> => {
    timer = null;
    writing = writing.then(writeAll);
    return writing;
  };
  return {
    /** Counts a call; it never waits and never fails. */
    count: ({ answered, duration_ms, ...call }: CountedCall): void => {
      const at = bucketOf(now());
      const { connector, mode, operation, method } = call;
      const name = [at.epochMilliseconds, connector, mode, operation, method].join(' ');
      const known = rows.get(name);
      if (!known && rows.size >= rows_max) {
        uncounted.inc();
        return;
      }
      const row = known ?? { ...call, at, calls: 0, failures: 0, durations_ms: [], changed: true };
      rows.set(name, row);
      row.changed = true;
      row.calls += 1;
      if (!answered) row.failures += 1;
      else row.durations_ms.push(Math.ceil(duration_ms));
      if (row.durations_ms.length > durationsKept) row.durations_ms.shift();
      timer ??= setTimeout(() => void outsideOfLane(write), flush_ms).unref();
    },
    /** Writes what has been counted. */
    close: async (): Promise<void> => {
      if (timer) clearTimeout(timer);
      await write();
    },
  };
};

/*
 * The records wait in this process and are written in batches, so that no call waits for its row.
 * Rows batched by a killed process are lost: the record is for people, and no money depends on it.
 */

const dropped = new Counter({
  name: 'bank_calls_unrecorded_total',
  help: 'Bank calls that were not recorded, because the database did not accept them in time.',
  registers: [metrics],
});

const bufferCalls = bufferInto('bank_call');

type NewCall = Omit<BankCall, 'id'>;

/** A recorder of this process. */
export const openCallRecorder = (runner: Runner) => {
  const counter = openCallCounter(runner);
  const rows = bufferCalls(runner, (lost) => dropped.inc(lost));
  return {
    count: counter.count,
    /** Takes a call; it never waits and never fails. */
    note: (call: NewCall): void => rows.add(asRow({ ...call, id: newRowId() })),
    /** Writes what has batched, rows and counts. */
    close: async (): Promise<void> => {
      await Promise.all([rows.close(), counter.close()]);
    },
  };
};

export type CallRecorder = ReturnType<typeof openCallRecorder>;

/*
 * What is kept of an order and of an answer is listed here, one by one: never a card, a recipient or
 * a saved method.
 */

/** The calls that go to the bank, and what they are about. */
const operations = {
  openSession: 'payment',
  ask: 'payment',
  cancelOrder: 'payment',
  settleHold: 'payment',
  receipt: 'payment',
  refund: 'refund',
  charge: 'recurrent',
  pay: 'payout',
  askPayout: 'payout',
  checkRecipient: 'payout',
  listSbpBanks: 'payout',
} as const satisfies Partial<Record<keyof Bank, BankOperation>>;

/** Calls without the id of an operation, under which they would be recorded. */
const unrecorded: ReadonlySet<string> = new Set(['receipt', 'checkRecipient', 'listSbpBanks']);

/** What every recorded order and question names. */
interface Order extends Question {
  readonly amount?: bigint;
  readonly currency?: string;
}

const methods: ReadonlySet<unknown> = new Set(Object.values(methodsOf).flat());
const isMethod = (value: unknown): value is RouteMethod => methods.has(value);

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : null;

const textIn = (value: unknown, name: string): string | null => {
  const field = fieldOf(value, name);
  return typeof field === 'string' ? field : null;
};

/** The kind of an answer; null: the call threw. */
const kindOf = (answer: unknown): string =>
  answer === null ? 'threw' : (textIn(answer, 'kind') ?? 'answered');

/**
 * Whether the bank answered. An order that it rejected because of one merchant's account, or that
 * had no account, does not count against the bank: no merchant can make it look unhealthy.
 */
const isAnswer = (answer: unknown): boolean => {
  const kind = kindOf(answer);
  if (kind === 'unaccepted') return textIn(fieldOf(answer, 'otherwise'), 'kind') === 'declined';
  return kind !== 'unknown' && kind !== 'threw';
};

const recordedOf = (answer: unknown) => {
  const meant = fieldOf(answer, 'otherwise') ?? answer;
  return {
    answer: kindOf(answer),
    reference: textIn(meant, 'reference'),
    failureCode: textIn(meant, 'failureCode'),
    bankCode: textIn(meant, 'bankCode'),
  };
};

type Called = (...given: readonly unknown[]) => Promise<unknown>;

/** The bank, each of its calls observed when it has ended. */
export const watchedBank = <Some extends Bank>(
  bank: Some,
  mode: Mode,
  { count, note }: Pick<CallRecorder, 'count' | 'note'>,
): Some => {
  const { connector } = bank;
  const watched = Object.entries(operations).flatMap(([name, operation]) => {
    const call: unknown = Reflect.get(bank, name);
    if (typeof call !== 'function') return [];
    // The port's calls differ in what they take; here it is only passed on.
    const plain = call.bind(bank) as Called;
    const values = { 'psp.connector': connector };
    const observed: Called = async (...given) => {
      const since_ms = performance.now();
      let answer: unknown = null;
      try {
        return await spanned({ kind: 'client', name: `bank ${name}`, values }, async (span) => {
          answer = await plain(...given);
          span?.note({ 'psp.bank_answer': kindOf(answer) });
          return answer;
        });
      } finally {
        const duration_ms = performance.now() - since_ms;
        bankCalls.observe({ connector, call: name, answer: kindOf(answer) }, duration_ms / 1_000);
        const named = fieldOf(given[0], 'method');
        const method = isMethod(named) ? named : '';
        count({ connector, mode, operation, method, answered: isAnswer(answer), duration_ms });
        if (!unrecorded.has(name)) {
          const { merchantId, operationId, amount, currency, now } = given[0] as Order;
          note({
            merchantId,
            subjectId: operationId,
            connector,
            call: name,
            amount: amount ?? null,
            currency: currency ?? null,
            ...recordedOf(answer),
            duration_ms: Math.round(duration_ms),
            createdAt: now,
          });
        }
      }
    };
    return [[name, observed] as const];
  });
  return { ...bank, ...Object.fromEntries(watched) };
};
