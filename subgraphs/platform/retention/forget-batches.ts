/** Removing old rows in batches, in one database or merchant by merchant where it is sharded. */
import type pg from 'pg';
import { deadLettersOfPlatform, workBatch, type Subject } from '../alerts/dead-letters.ts';
import type { Owner } from '../clock/due-owners.ts';
import { isSharded } from '../database/sharding.ts';
import { inTransaction, run, type Statement } from '../database/statement.ts';
import type { Forgotten } from './forget-rows.ts';

/** Small enough that a batch is over in milliseconds. */
const batch_max_rows = 1_000;
/** And so many batches in one run: the next one continues. */
const batches_max = 200;

const removeRows = (
  pool: pg.Pool,
  remove: Statement,
  values: readonly unknown[],
): Promise<number> =>
  inTransaction(
    pool,
    async (client) => (await run<{ count: number }>(client, remove, values))[0]?.count ?? 0,
  );

const passedNumbers: Statement = {
  name: 'retention.passed_numbers',
  text: `select min(sequence) as consumed, max(sequence) filter (where consumer = 'totals') as counted
    from consumer_offset`,
};

/** The same where the tables are sharded, in a transaction for each merchant. */
const removeSharded = async (
  pool: pg.Pool,
  { task, perMerchant: { owners, remove, isByNumbers } }: Pick<Forgotten, 'task' | 'perMerchant'>,
  cutoff: Temporal.Instant,
  limit: number,
): Promise<number> => {
  if (!owners)
    return removeRows(pool, remove, [cutoff, limit, await deadLettersOfPlatform(pool, task)]);
  const [numbers] = isByNumbers
    ? await run<{ consumed: bigint | null; counted: bigint | null }>(pool, passedNumbers, [])
    : [];
  const passed = numbers ? [numbers.consumed, numbers.counted] : [];
  let removed = 0;
  for (const { merchantId, count } of await run<Owner>(pool, owners, [cutoff, limit]))
    removed += await removeRows(pool, remove, [cutoff, count, merchantId, ...passed]);
  return removed;
};

/**
 * Removes up to `limit` rows that are older than `cutoff`, and sets aside what cannot be removed;
 * gives how many went, and how many it could have been.
 */
export const forgetBatch = async (
  pool: pg.Pool,
  { task, remove, perMerchant, first }: Forgotten,
  cutoff: Temporal.Instant,
  limit: number,
): Promise<{ result: number; limit: number }> => {
  const sharded = await isSharded(pool);
  return workBatch(pool, {
    task,
    limit,
    work: (some) =>
      sharded
        ? removeSharded(pool, { task, perMerchant }, cutoff, some)
        : removeRows(pool, remove, [cutoff, some]),
    first: async () => (await run<Subject>(pool, first, [cutoff]))[0] ?? null,
  });
};

/** Removes what is older than `cutoff`, a batch at a time; gives how many rows went. */
export const forgetOlder = async (
  pool: pg.Pool,
  rows: Forgotten,
  cutoff: Temporal.Instant,
  stopping: AbortSignal,
): Promise<number> => {
  let removed = 0;
  for (let batch = 0; batch < batches_max && !stopping.aborted; batch += 1) {
    const { result, limit } = await forgetBatch(pool, rows, cutoff, batch_max_rows);
    removed += result;
    if (result < limit) break;
  }
  return removed;
};
