/**
 * The simulated bank's record of its operations. Orders, and confirmations by buyers, of the same
 * moment share a statement, those of each merchant by themselves.
 */
import type pg from 'pg';
import { batched } from '../../database/batch-calls.ts';
import { boundWait } from '../../database/idempotency.ts';
import {
  columnNames,
  columns,
  rowJson,
  run,
  type Runner,
  type Statement,
} from '../../database/statement.ts';
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
export type OperationKey = Pick<SimulatorOperation, 'merchantId' | 'operationId'>;

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

const inserted = (
  condition: string,
): string => `insert into simulator_operation (${columnNames(names)})
    select ${columnNames(names)} from jsonb_populate_recordset(null::simulator_operation, $1::jsonb)
    where ${condition} order by merchant_id, operation_id on conflict (merchant_id, operation_id) do nothing`;
const open: Statement = { name: 'simulator.open', text: inserted('true') };
const openMany: Statement = { name: 'simulator.open_many', text: inserted(boundWait) };

const insert = async (
  runner: Runner,
  statement: Statement,
  operations: readonly NewOperation[],
): Promise<void> => {
  const rows = operations.map((operation) => rowJson(names, operation));
  await run(runner, statement, [JSON.stringify(rows)]);
};

/** Records an operation in the caller's transaction; one that is there stays as it is. */
export const insertOperation = (runner: Runner, operation: NewOperation): Promise<void> =>
  insert(runner, open, [operation]);

/** The same by itself. */
export const openOperation = batched<NewOperation, void>({
  name: open.name,
  callerOf: ({ merchantId }) => merchantId,
  perCaller: true,
  run: async (pool, operations) => {
    await insert(pool, operations.length === 1 ? open : openMany, operations);
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

/**
 * SQL: the first confirmation decides; an operation that would answer by itself answers now; one
 * planned as pending never does.
 */
const decided = (confirms: string, now: string): string => {
  const undecided = `operation.outcome <> 'pending'
      and (operation.answer_at is null or operation.answer_at > ${now})`;
  return `answer_at = case when ${undecided} then ${now} else operation.answer_at end,
      outcome = case when not (${undecided}) or (${confirms} and operation.outcome = 'failed')
        then operation.outcome when ${confirms} then 'succeeded' else 'failed' end,
      failure_code = case when ${confirms} or not (${undecided})
        then operation.failure_code else 'authentication_failed' end`;
};

// Returns the row in any case: it is the bank's answer.
const confirm: Statement = {
  name: 'simulator.confirm',
  text: `update simulator_operation as operation set ${decided('$4::boolean', '$3::timestamptz')}
    where merchant_id = $1 and operation_id = $2 returning ${columns(foundNames)}`,
};

/** The same for several operations, each once. Skips locked ones. */
const confirmMany: Statement = {
  name: 'simulator.confirm_many',
  text: `with sent as materialized (select * from unnest((select $2::uuid[]), (select $3::timestamptz[]), (select $4::boolean[]))
      as sent (operation_id, at, confirms)),
    free as materialized (select sent.* from sent cross join lateral (
        select operation_id from simulator_operation
        where merchant_id = $1 and operation_id = sent.operation_id for update skip locked) as unlocked
      where unlocked.operation_id = sent.operation_id)
    update simulator_operation as operation set ${decided('free.confirms', 'free.at')} from free
    where operation.merchant_id = $1 and operation.operation_id = free.operation_id
    returning operation.operation_id as "operationId", ${columns(foundNames, 'operation')}`,
};

const confirmAlone = async (
  runner: Runner,
  { merchantId, operationId, now, confirms }: Confirmation,
): Promise<Found | null> =>
  (await run<Found>(runner, confirm, [merchantId, operationId, now, confirms]))[0] ?? null;

const confirmTogether = async (
  pool: pg.Pool,
  confirmations: readonly Confirmation[],
): Promise<readonly (Found | 'left')[]> => {
  const first = new Map(confirmations.toReversed().map((one) => [one.operationId, one]));
  const sent = [...first.values()];
  const rows = await run<Found & Pick<OperationKey, 'operationId'>>(pool, confirmMany, [
    sent[0]?.merchantId,
    sent.map(({ operationId }) => operationId),
    sent.map(({ now }) => now),
    sent.map(({ confirms }) => confirms),
  ]);
  const found = new Map(rows.map((row) => [row.operationId, row]));
  return confirmations.map((one) => {
    const { operationId } = one;
    return (first.get(operationId) === one && found.get(operationId)) || 'left';
  });
};

/**
 * Returns `left` for operations that a batch did not confirm: locked, unknown, or confirmed twice.
 */
const confirmGathered = batched<Confirmation, Found | 'left' | null>({
  name: confirm.name,
  callerOf: ({ merchantId }) => merchantId,
  perCaller: true,
  run: async (pool, confirmations) => {
    const [one] = confirmations;
    return one && confirmations.length === 1
      ? [await confirmAlone(pool, one)]
      : confirmTogether(pool, confirmations);
  },
});

/** Confirms or refuses an operation; returns the bank's state of it, null when it is unknown. */
export const confirmOperation = async (
  pool: pg.Pool,
  confirmation: Confirmation,
): Promise<Found | null> => {
  const confirmed = await confirmGathered(pool, confirmation);
  return confirmed === 'left' ? confirmAlone(pool, confirmation) : confirmed;
};
