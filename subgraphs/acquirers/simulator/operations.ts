/**
 * The simulated bank's record of its operations. Orders, and confirmations by buyers, of the same
 * moment share a statement, those of each merchant by themselves.
 */
import type pg from 'pg';
import { batched } from '../../platform/database/batch-calls.ts';
import { runRows, sqlFile } from '../../platform/database/sql-file.ts';
import {
  columns,
  rowJson,
  run,
  type Runner,
  type Statement,
} from '../../platform/database/statement.ts';
import { rfc3339 } from '../../../schema/rfc3339.ts';
import type { SimulatorOperation } from '../entities.ts';

/** An operation that is ordered. */
export type NewOperation = SimulatorOperation;

const names = [
  'merchantId',
  'operationId',
  'reference',
  'outcome',
  'failureCode',
  'answerAt',
  'cardBrand',
  'cardMask',
  'cardHolder',
  'createdAt',
  'silentUntil',
  'holds',
  'firstCharge',
] as const satisfies readonly (keyof NewOperation)[];

/** Which operation. */
type OperationKey = Pick<SimulatorOperation, 'merchantId' | 'operationId'>;

const foundNames = [
  'reference',
  'outcome',
  'failureCode',
  'answerAt',
  'cardBrand',
  'cardMask',
  'cardHolder',
  'silentUntil',
  'holds',
] as const satisfies readonly (keyof SimulatorOperation)[];

/** What the bank knows of an operation. */
export type Found = Pick<SimulatorOperation, (typeof foundNames)[number]>;

const open = sqlFile(import.meta.dirname, 'open-operations.sql');

const insert = async (
  runner: Runner,
  operations: readonly NewOperation[],
  mayWait: boolean,
): Promise<void> => {
  const rows = operations.map((operation) => rowJson(names, operation));
  await runRows(runner, open, operations[0]?.merchantId ?? '', rows, mayWait);
};

/** Records an operation in the caller's transaction; one that is there stays as it is. */
export const insertOperation = (runner: Runner, operation: NewOperation): Promise<void> =>
  insert(runner, [operation], true);

/** The same by itself. */
export const openOperation = batched<NewOperation, void>({
  name: open.name,
  callerOf: ({ merchantId }) => merchantId,
  perCaller: true,
  run: async (pool, operations) => {
    await insert(pool, operations, operations.length === 1);
    return operations.map(() => undefined);
  },
});

const find: Statement = {
  name: 'simulator.find',
  text: `select ${columns(foundNames)} from simulator_operation
    where merchant_id = $1 and operation_id = $2`,
};

/** Reads an operation; null when the bank has not seen it. */
export const findOperation = async (
  runner: Runner,
  { merchantId, operationId }: OperationKey,
): Promise<Found | null> => (await run<Found>(runner, find, [merchantId, operationId]))[0] ?? null;

/** What a buyer does at the bank. */
interface Confirmation extends OperationKey {
  readonly confirms: boolean;
  readonly now: Temporal.Instant;
}

const confirm = sqlFile(import.meta.dirname, 'confirm-operations.sql');

const confirmAll = async (
  pool: pg.Pool,
  confirmations: readonly Confirmation[],
): Promise<readonly (Found | 'left' | null)[]> => {
  const isAlone = confirmations.length === 1;
  const first = new Map(confirmations.toReversed().map((one) => [one.operationId, one]));
  const sent = [...first.values()].map(({ now, confirms, ...key }) => ({
    ...rowJson(['merchantId', 'operationId'], key),
    at: rfc3339(now),
    confirms,
  }));
  const merchantId = confirmations[0]?.merchantId ?? '';
  type Row = Found & Pick<OperationKey, 'operationId'>;
  const rows = await runRows<Row>(pool, confirm, merchantId, sent, isAlone);
  const found = new Map(rows.map((row) => [row.operationId, row]));
  return confirmations.map((one) => {
    const { operationId } = one;
    return (first.get(operationId) === one && found.get(operationId)) || (isAlone ? null : 'left');
  });
};

/**
 * Returns `left` for operations that a batch did not confirm: locked, unknown, or confirmed twice.
 */
const confirmGathered = batched<Confirmation, Found | 'left' | null>({
  name: confirm.name,
  callerOf: ({ merchantId }) => merchantId,
  perCaller: true,
  run: confirmAll,
});

/** Confirms or refuses an operation; returns the bank's state of it, null when it is unknown. */
export const confirmOperation = async (
  pool: pg.Pool,
  confirmation: Confirmation,
): Promise<Found | null> => {
  let confirmed = await confirmGathered(pool, confirmation);
  // Outside the batches, it may wait for the operation.
  if (confirmed === 'left') [confirmed = null] = await confirmAll(pool, [confirmation]);
  return confirmed === 'left' ? null : confirmed;
};
