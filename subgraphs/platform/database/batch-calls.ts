/**
 * Micro-batches: concurrent calls share one statement, like a database's group commit. A call never
 * waits for others to join: calls that arrive while both slots are taken leave with the first free
 * slot. A batch of one call may wait for what another transaction holds; one of several must not.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { LRUCache } from 'lru-cache';
import pg from 'pg';
import { isUuid } from '../../rules/ids.ts';
import { isInLane } from '../access/lane.ts';
import { nameOfReference } from '../graph/entities.ts';
import { isDatabaseLost } from '../tracing/error-code.ts';
import { openBuffer, type Buffer, spanned } from '../tracing/telemetry.ts';
import { runByMerchant } from './sql-file.ts';
import { spanOf, run, type Runner, type Statement } from './statement.ts';

/** An operation whose calls may share a statement. */
interface Batched<Call, Result> {
  /** The name of a call's span: the name of its statement. */
  readonly name: string;
  /**
   * The caller, mostly the merchant. A batch holds the calls of one: a statement names one merchant,
   * so that merchants can be on different machines and no merchant waits for another's rows.
   */
  readonly callerOf: (call: Call) => string;
  /** Concurrent statements, if not two: one, when they would only wait for each other. */
  readonly inFlight?: number;
  /**
   * One result for each call, in their order. All calls take effect, or none, except those that are
   * `left`: what they need is held by another transaction.
   */
  readonly run: (pool: pg.Pool, calls: readonly Call[]) => Promise<readonly (Result | 'left')[]>;
  /** Makes a call that a batch has left, and may wait; absent: `run` of that call alone. */
  readonly alone?: (pool: pg.Pool, call: Call) => Promise<Result>;
}

/** Calls in one statement. */
export const batch_max = 64;
/** Concurrent statements, unless an operation has fewer: while one commits, the next runs. */
export const batchesInFlight_max = 2;
/**
 * Callers whose calls are batched separately; beyond that, the least recently seen start again.
 */
const batchers_max = 1_000;
/** Calls of a failed batch that are tried again at the same time. */
const retries_max = 4;
/** How long a caller's calls stay out of batches after one of them failed. */
const failing_ms = 5_000;

interface Waiting<Call, Result> {
  readonly call: Call;
  readonly answer: PromiseWithResolvers<Result>;
}

// A batch belongs to no call, so it runs in no call's trace.
const outsideOfCalls = AsyncLocalStorage.snapshot();

const runAlone = async <Call, Result>(
  operation: Pick<Batched<Call, Result>, 'run'>,
  pool: pg.Pool,
  call: Call,
): Promise<Result | 'left'> => {
  for (const result of await operation.run(pool, [call])) return result;
  throw new Error('a call has no result');
};

/** Makes a call outside the batches, so that what it waits for does not delay them. */
const makeLeft = async <Call, Result>(
  operation: Batched<Call, Result>,
  pool: pg.Pool,
  call: Call,
): Promise<Result> => {
  if (operation.alone) return operation.alone(pool, call);
  const result = await runAlone(operation, pool, call);
  if (result === 'left') throw new Error('a call that ran alone was left');
  return result;
};

/** Runs the calls of a failed batch one by one; `failed` is called for each that fails then, too. */
const runEach = async <Call, Result>(
  batch: readonly Waiting<Call, Result>[],
  runOne: (call: Call) => Promise<Result>,
  failed: () => void,
): Promise<void> => {
  const left = batch.values();
  const runNext = async (): Promise<void> => {
    for (const { call, answer } of left) {
      try {
        answer.resolve(await runOne(call));
      } catch (error) {
        if (!isDatabaseLost(error)) failed();
        answer.reject(error);
      }
    }
  };
  await Promise.all(Array.from({ length: retries_max }, runNext));
};

/** The calls of one caller of an operation on one pool. */
const openBatcher = <Call, Result>(
  pool: pg.Pool,
  operation: Batched<Call, Result>,
): ((call: Call) => Promise<Result | 'left'>) => {
  const slots_max = operation.inFlight ?? batchesInFlight_max;
  const alone = (call: Call): Promise<Result | 'left'> => runAlone(operation, pool, call);
  const queue: Waiting<Call, Result | 'left'>[] = [];
  let failingUntil_ms = 0;
  let inFlight = 0;
  let isDue = false;

  const runBatch = async (batch: readonly Waiting<Call, Result | 'left'>[]): Promise<void> => {
    const calls = batch.map(({ call }) => call);
    try {
      const results = await operation.run(pool, calls);
      for (const [place, result] of results.entries()) batch[place]?.answer.resolve(result);
    } catch (error) {
      // A call sent on a lost connection may have taken effect: only its caller may repeat it.
      if (batch.length === 1 || isDatabaseLost(error))
        for (const { answer } of batch) answer.reject(error);
      else
        await runEach(batch, alone, () => {
          failingUntil_ms = performance.now() + failing_ms;
        });
    }
  };

  /** Processes batch after batch until no call waits. */
  const work = async (): Promise<void> => {
    inFlight += 1;
    while (queue.length > 0) await runBatch(queue.splice(0, batch_max));
    inFlight -= 1;
  };

  const begin = (): void => {
    isDue = false;
    for (let slots = slots_max - inFlight; slots > 0; slots -= 1) void work();
  };

  return (call) => {
    if (performance.now() < failingUntil_ms) return outsideOfCalls(alone, call);
    const answer = Promise.withResolvers<Result | 'left'>();
    queue.push({ call, answer });
    // Behind all that this turn of the event loop brings.
    if (!isDue && inFlight < slots_max) {
      isDue = true;
      outsideOfCalls(setImmediate, begin);
    }
    return answer.promise;
  };
};

/** The operation with its calls batched, separately for each pool and caller. */
export const batched = <Call, Result>(
  operation: Batched<Call, Result>,
): ((pool: pg.Pool, call: Call) => Promise<Result>) => {
  type Batcher = (call: Call) => Promise<Result | 'left'>;
  const batchers = new WeakMap<pg.Pool, LRUCache<string, Batcher>>();
  const batcherOn = (pool: pg.Pool, call: Call): Batcher => {
    const ofPool = batchers.get(pool) ?? new LRUCache<string, Batcher>({ max: batchers_max });
    batchers.set(pool, ofPool);
    const whose = operation.callerOf(call);
    const batcher = ofPool.get(whose) ?? openBatcher(pool, operation);
    ofPool.set(whose, batcher);
    return batcher;
  };
  // A batch belongs to no single call, so it would not wait for the turn of a call in the lane.
  return async (pool, call) => {
    const result = isInLane()
      ? await runAlone(operation, pool, call)
      : await spanned(spanOf(operation), () => batcherOn(pool, call)(call));
    return result === 'left' ? makeLeft(operation, pool, call) : result;
  };
};

// Rows by their keys, in the order of the keys: entity references load with one statement for all.
// Concurrent reads of one row share a statement, too.

export interface RowKey {
  readonly merchantId: string;
  readonly id: string;
}

const idsOf = (keys: readonly RowKey[]): readonly unknown[] => [keys.map(({ id }) => id)];

/**
 * Reads by a statement whose `$1` is the merchant and `$2` the ids: in the order of the keys, null
 * where there is none.
 */
export const readByKey =
  <Found extends RowKey>(load: Statement) =>
  async (runner: Runner, keys: readonly RowKey[]): Promise<(Found | null)[]> => {
    const sane = keys.filter(({ merchantId, id }) => isUuid(merchantId) && isUuid(id));
    const rows = await runByMerchant<Found, RowKey>(runner, load, sane, idsOf);
    const found = new Map(rows.map((row) => [nameOfReference(row), row]));
    return keys.map((key) => found.get(nameOfReference(key)) ?? null);
  };

/**
 * A loader of a table with the key (merchant_id, id); `columns` is what `columns()` of statement.ts
 * makes, without an alias.
 */
export const loadByKey = <Found extends RowKey>(
  table: string,
  columns: string,
  name = `${table}.load`,
) => {
  const load: Statement = {
    name,
    text: `select ${columns} from ${table} where merchant_id = $1 and id = any ($2::uuid[])`,
  };
  const findMany = readByKey<Found>(load);
  const findBatched = batched<RowKey, Found | null>({
    name: load.name,
    callerOf: ({ merchantId }) => merchantId,
    run: findMany,
  });
  return async (runner: Runner, keys: readonly RowKey[]): Promise<(Found | null)[]> => {
    const [key] = keys;
    return key && keys.length === 1 && runner instanceof pg.Pool
      ? [await findBatched(runner, key)]
      : findMany(runner, keys);
  };
};

/** Reads a row by its key, locked until the transaction ends; null if there is none. */
export const lockByKey = <Found extends RowKey>(table: string, columns: string) => {
  const lock: Statement = {
    name: `${table}.lock`,
    text: `select ${columns} from ${table} where merchant_id = $1 and id = $2 for update`,
  };
  return async (runner: Runner, { merchantId, id }: RowKey): Promise<Found | null> =>
    (await run<Found>(runner, lock, [merchantId, id]))[0] ?? null;
};

// Rows that are written outside the request path, in batches (`openBuffer`).

export type BufferedRows = Buffer<object>;

const rows_max = 500;

/** Opens buffers for new rows of a table, by their columns; `drop` counts what is lost. */
export const bufferInto = (table: string) => {
  const insert: Statement = {
    name: `${table}.insert`,
    text: `insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1::jsonb) on conflict do nothing`,
  };
  return (runner: Runner, drop: (rows: number) => void): BufferedRows =>
    openBuffer({
      batch_max: rows_max,
      write: (rows) => run(runner, insert, [JSON.stringify(rows)]),
      drop,
    });
};
