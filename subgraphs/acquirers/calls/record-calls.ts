/**
 * Records calls to banks outside the payment's path: they wait in this process and are written in
 * batches, so that no call waits for its row. Rows batched by a killed process are lost: the
 * record is for people, and no money depends on it.
 */
import { Counter } from 'prom-client';
import { bufferInto } from '../../platform/database/batch-calls.ts';
import { newRowId } from '../../platform/database/new-id.ts';
import { asRow, type Runner } from '../../platform/database/statement.ts';
import { metrics } from '../../platform/tracing/telemetry.ts';
import { openCallCounter, type CallCounter } from './count-calls.ts';
import type { BankCall } from '../entities.ts';

const dropped = new Counter({
  name: 'bank_calls_unrecorded_total',
  help: 'Bank calls that were not recorded, because the database did not accept them in time.',
  registers: [metrics],
});

const bufferCalls = bufferInto('bank_call');

type NewCall = Omit<BankCall, 'id'>;

export interface CallRecorder extends Pick<CallCounter, 'count'> {
  /** Takes a call; it never waits and never fails. */
  readonly note: (call: NewCall) => void;
  /** Writes what has batched, rows and counts. */
  readonly close: () => Promise<void>;
}

/** A recorder of this process. */
export const openCallRecorder = (runner: Runner): CallRecorder => {
  const counter = openCallCounter(runner);
  const rows = bufferCalls(runner, (lost) => dropped.inc(lost));
  return {
    count: counter.count,
    note: (call) => rows.add(asRow({ ...call, id: newRowId() })),
    close: async () => {
      await Promise.all([rows.close(), counter.close()]);
    },
  };
};
