/**
 * The simulated bank's record of its operations. Orders, and confirmations by buyers, of the same
 * moment share a statement, those of each merchant by themselves.
 */
import type pg from 'pg';
import { rfc3339 } from '../../../schema/rfc3339.ts';
import { batched } from '../../platform/database/batch-calls.ts';
import { emOn } from '../../platform/database/orm-connections.ts';
import { runRows, sqlFile } from '../../platform/database/sql-file.ts';
import {
  columns,
  rowJson,
  run,
  type Runner,
  type Statement,
} from '../../platform/database/statement.ts';
import { decidesAloneAt, type TimedPlan } from '../../rules/banks.ts';
import type { FailureCode } from '../../rules/failure-code.ts';
import { SimulatorOperationEntity, type SimulatorOperation } from '../entities.ts';

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
] as const satisfies readonly (keyof SimulatorOperation)[];

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
  operations: readonly SimulatorOperation[],
  mayWait: boolean,
): Promise<void> => {
  const rows = operations.map((operation) => rowJson(names, operation));
  await runRows(runner, open, operations[0]?.merchantId ?? '', rows, mayWait);
};

/** Records an operation in the caller's transaction; one that is there stays as it is. */
export const insertOperation = (runner: Runner, operation: SimulatorOperation): Promise<void> =>
  insert(runner, [operation], true);

/** The same by itself. */
export const openOperation = batched<SimulatorOperation, void>({
  name: open.name,
  callerOf: ({ merchantId }) => merchantId,
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
 * Confirms or refuses an operation; returns the bank's state of it, null when it is unknown. A batch
 * leaves one that is locked, unknown, or confirmed twice.
 */
export const confirmOperation = batched<Confirmation, Found | null>({
  name: confirm.name,
  callerOf: ({ merchantId }) => merchantId,
  run: confirmAll,
});

// Orders of refunds and payouts at the simulated bank, those of one moment in one statement.

const take = sqlFile(import.meta.dirname, 'take-orders.sql');

interface TakenOrder {
  readonly merchantId: string;
  readonly operationId: string;
  readonly planned: TimedPlan | null;
  readonly now: Temporal.Instant;
}

interface Taken extends Pick<
  SimulatorOperation,
  'operationId' | 'reference' | 'outcome' | 'failureCode' | 'answerAt'
> {
  /** Whether no order came before. */
  readonly fresh: boolean;
}

const sentRow = ({ merchantId, operationId, planned, now }: TakenOrder): object => {
  const answerAt = decidesAloneAt(planned, now);
  return {
    merchant_id: merchantId,
    operation_id: operationId,
    outcome: planned?.outcome ?? 'succeeded',
    failure_code: planned?.failureCode ?? null,
    answer_at: answerAt && rfc3339(answerAt),
    created_at: rfc3339(now),
  };
};

/** Takes an order, or finds the first with its id; null when that is being taken right now. */
export const takeOrder = batched<TakenOrder, Taken | null>({
  name: take.name,
  callerOf: ({ merchantId }) => merchantId,
  run: async (pool, orders) => {
    const merchantId = orders[0]?.merchantId ?? '';
    const rows = await runRows<Taken>(pool, take, merchantId, orders.map(sentRow), false);
    const found = new Map(rows.map((row) => [row.operationId, row]));
    return orders.map(({ operationId }) => found.get(operationId) ?? null);
  },
});

// The simulated bank declines an operation that it had accepted: it exceeds a limit of the
// merchant's balance, which only the booking detects.

/** The simulated bank's name. */
export const simulatorConnector = 'simulator';

/** Makes the bank answer from now on that it declined the operation. */
export const declineSimulated = async (
  runner: Runner,
  { merchantId, operationId, failureCode }: OperationKey & { readonly failureCode: FailureCode },
): Promise<void> => {
  const declined = { outcome: 'failed', failureCode } as const;
  const key = { merchantId, operationId };
  await emOn(runner).nativeUpdate(SimulatorOperationEntity, key, declined);
};
