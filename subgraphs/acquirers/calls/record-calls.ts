/**
 * Records calls to banks outside the payment's path: they wait in this process and are written in
 * batches, so that no call waits for its row. Rows batched by a killed process are lost: the
 * record is for people, and no money depends on it.
 */
import { Counter } from 'prom-client';
import { rfc3339 } from '../../../schema/rfc3339.ts';
import { bufferRows } from '../../platform/database/batch-calls.ts';
import { newRowId } from '../../platform/database/new-id.ts';
import type { Runner, Statement } from '../../platform/database/statement.ts';
import { metrics } from '../../platform/tracing/telemetry.ts';
import type { Bank } from '../bank.ts';
import { openCallCounter, type CallCounter } from './count-calls.ts';
import type { BankCall } from '../entities.ts';

const dropped = new Counter({
  name: 'bank_calls_unrecorded_total',
  help: 'Bank calls that were not recorded, because the database did not accept them in time.',
  registers: [metrics],
});

const insert: Statement = {
  name: 'bank_call.insert',
  text: 'insert into bank_call select * from jsonb_populate_recordset(null::bank_call, $1::jsonb)',
};

type NewCall = Omit<BankCall, 'id'>;

export interface CallRecorder extends Pick<CallCounter, 'count'> {
  /** Takes a call; it never waits and never fails. */
  readonly note: (call: NewCall) => void;
  /** Writes what has batched, rows and counts. */
  readonly close: () => Promise<void>;
}

const asColumns = (call: NewCall) => ({
  merchant_id: call.merchantId,
  subject_id: call.subjectId,
  id: newRowId(),
  connector: call.connector,
  call: call.call,
  amount: call.amount?.toString() ?? null,
  currency: call.currency,
  answer: call.answer,
  reference: call.reference,
  failure_code: call.failureCode,
  bank_code: call.bankCode,
  duration_ms: call.duration_ms,
  created_at: rfc3339(call.createdAt),
});

/** A recorder of this process. */
export const openCallRecorder = (runner: Runner): CallRecorder => {
  const counter = openCallCounter(runner);
  const rows = bufferRows(runner, insert, (lost) => dropped.inc(lost));
  return {
    count: counter.count,
    note: (call) => rows.add(asColumns(call)),
    close: async () => {
      await Promise.all([rows.close(), counter.close()]);
    },
  };
};

// A bank whose calls leave a row each. The recorded fields of an order and of an answer are listed
// here, one by one: never a card, a recipient or a saved method.

/** The calls that are about an operation. */
const recorded = [
  'openSession',
  'ask',
  'cancelOrder',
  'refund',
  'settleHold',
  'charge',
  'pay',
  'askPayout',
] as const satisfies readonly (keyof Bank)[];

/** What every order and question names. */
interface Order {
  readonly merchantId: string;
  readonly operationId: string;
  readonly now: Temporal.Instant;
  readonly amount?: bigint;
  readonly currency?: string;
}

type Called = (order: Order, ...rest: readonly unknown[]) => Promise<object>;

const textIn = (answer: object, name: string): string | null => {
  const value: unknown = Reflect.get(answer, name);
  return typeof value === 'string' ? value : null;
};

/** The recorded part of an answer; null: the call threw. */
const answerOf = (answer: object | null) => {
  if (!answer) return { answer: 'threw', reference: null, failureCode: null, bankCode: null };
  const otherwise: unknown = Reflect.get(answer, 'otherwise');
  const meant = typeof otherwise === 'object' && otherwise !== null ? otherwise : answer;
  return {
    answer: textIn(answer, 'kind') ?? 'answered',
    reference: textIn(meant, 'reference') ?? textIn(meant, 'bankRef'),
    failureCode: textIn(meant, 'failureCode'),
    bankCode: textIn(meant, 'bankCode'),
  };
};

/** The bank, each of its calls about an operation noted when it has ended. */
export const recordedBank = <Some extends Bank>(bank: Some, { note }: CallRecorder): Some => {
  const { connector } = bank;
  const calls = recorded.flatMap((name) => {
    const call = bank[name];
    if (typeof call !== 'function') return [];
    // The port's calls differ in what else they take; here it is only passed on.
    const plain = call.bind(bank) as Called;
    const noted: Called = async (order, ...rest) => {
      const since_ms = performance.now();
      let answer: object | null = null;
      try {
        answer = await plain(order, ...rest);
        return answer;
      } finally {
        note({
          merchantId: order.merchantId,
          subjectId: order.operationId,
          connector,
          call: name,
          amount: order.amount ?? null,
          currency: order.currency ?? null,
          ...answerOf(answer),
          duration_ms: Math.round(performance.now() - since_ms),
          createdAt: order.now,
        });
      }
    };
    return [[name, noted] as const];
  });
  return { ...bank, ...Object.fromEntries(calls) };
};
