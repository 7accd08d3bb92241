/**
 * Proves the books continuously: each table is walked in the order of its key, a range at a time,
 * from the place that is kept; at its end the walk begins again. After a range it rests as long as
 * its pass still ends within half a day (`pace`). What is left of a merchant with very many rows is
 * walked beside the others, who do not wait for it. A walk is leased, so that one process takes it
 * at a time and a kill only repeats a range.
 */
import type pg from 'pg';
import { run, type Statement } from '../../database/statement.ts';
import { isPassing } from '../../alerts/set-aside.ts';
import { done, type Job } from '../../queue/run-job.ts';
import type { Logger } from '../../service/tracing/telemetry.ts';
import { highestId, type Place, type Range, type Walk } from './check.ts';
import { beginning } from './check-books.ts';
import { checkRange, rangeEnd } from './check-range.ts';
import { countPostings } from './checkpoint.ts';
import { passOf_s, restAfter_ms, restAtEnd_ms } from './pace.ts';

/** Rows of a range; of a shop the ledger is summed, from its checkpoint. */
const range_rows: Record<Walk, number> = {
  payment: 2_000,
  refund: 2_000,
  payout: 2_000,
  posting: 2_000,
  event: 2_000,
  shop: 20,
};
const lease_ms = 600_000;
/** So many ranges of one merchant are taken in a row; what it has more is walked beside. */
const ofMerchant_max_ranges = 25;
/** Walks at the same time in one process, and how long one run of the job goes on. */
const walkers = 3;
const run_max_ms = 60_000;

export interface BooksParts {
  readonly pool: pg.Pool;
  readonly now: () => Temporal.Instant;
  readonly log: Logger;
  readonly stopping: AbortSignal;
}

interface TakenWalk {
  readonly name: Walk;
  readonly atMerchantId: string;
  readonly atId: string;
  readonly passBeganAt: Temporal.Instant | null;
  readonly rows: bigint | null;
  readonly passRows: bigint | null;
  readonly merchantRanges: number | null;
}

const take: Statement = {
  name: 'books.take',
  text: `update books_walk set due_at = $2 where name = (select name from books_walk where due_at <= $1 order by due_at limit 1 for update skip locked)
    returning name, at_merchant_id as "atMerchantId", at_id as "atId", pass_began_at as "passBeganAt",
      rows, pass_rows as "passRows", merchant_ranges as "merchantRanges"`,
};

const takeAside: Statement = {
  name: 'books.take_aside',
  text: `update books_aside set due_at = $2 where (name, at_merchant_id) = (
      select name, at_merchant_id from books_aside where due_at <= $1 order by due_at limit 1 for update skip locked)
    returning name, at_merchant_id as "atMerchantId", at_id as "atId", pass_began_at as "passBeganAt"`,
};

const leave: Statement = {
  name: 'books.leave_aside',
  text: `insert into books_aside (name, at_merchant_id, at_id, due_at, pass_began_at) values ($1, $2, $3, $4, $5)
    on conflict (name, at_merchant_id) do nothing`,
};

const isAside: Statement = {
  name: 'books.is_aside',
  text: 'select 1 from books_aside where name = $1 and at_merchant_id = $2',
};

const moveAside: Statement = {
  name: 'books.move_aside',
  text: 'update books_aside set at_id = $3, due_at = $4 where name = $1 and at_merchant_id = $2',
};

const endAside: Statement = {
  name: 'books.end_aside',
  text: 'delete from books_aside where name = $1 and at_merchant_id = $2',
};

/** Rows of a table and of its partitions as PostgreSQL estimates them. */
const estimated: Statement = {
  name: 'books.estimated_rows',
  text: `select coalesce(sum(greatest(reltuples, 0)), 0)::float8 as rows from pg_class
    where oid in (select relid from pg_partition_tree($1::text::regclass))`,
};

const move: Statement = {
  name: 'books.move',
  text: `update books_walk set at_merchant_id = $2, at_id = $3, due_at = $4, pass_began_at = $5, checked_at = coalesce($6, checked_at),
      pass_rows = $7, merchant_ranges = $8, rows = coalesce($9, rows), pass_s = $10 where name = $1`,
};

const last: Place = { merchantId: highestId, id: highestId };

const rowsOf = async (pool: pg.Pool, { name, rows, passRows }: TakenWalk): Promise<number> => {
  const [guess] = await run<{ rows: number }>(pool, estimated, [name]);
  return Math.max(guess?.rows ?? 0, Number(rows ?? 0n), Number(passRows ?? 0n));
};

/** Checks one range; gives how long it took. */
const check = async (
  { pool, now, log }: BooksParts,
  walk: Walk,
  range: Range,
  size: number,
): Promise<number> => {
  const started = performance.now();
  // Rows that come in between may be more than the range had; what is cut off is seen in the next
  // pass.
  const fresh = await checkRange(pool, walk, range, { limit: 2 * size, at: now() });
  if (fresh > 0) log.error({ walk, differences: fresh }, 'the books differ');
  return performance.now() - started;
};

/**
 * Where a walk goes on after a range: behind its merchant, when that one has had its share, whose
 * rest is then left aside.
 */
const after = async (
  pool: pg.Pool,
  { name, merchantRanges }: TakenWalk,
  { from, to }: Range,
  began: { readonly pass: Temporal.Instant; readonly now: Temporal.Instant },
): Promise<{ readonly at: Place; readonly ranges: number }> => {
  const { merchantId } = to;
  if (from.merchantId !== merchantId) return { at: to, ranges: 0 };
  const behind = { at: { merchantId, id: highestId }, ranges: 0 };
  if ((await run(pool, isAside, [name, merchantId])).length > 0) return behind;
  const ranges = (merchantRanges ?? 0) + 1;
  if (ranges < ofMerchant_max_ranges) return { at: to, ranges };
  await run(pool, leave, [name, merchantId, to.id, began.now, began.pass]);
  return behind;
};

/**
 * Counts a range of postings for the next checkpoint. What fails costs the merchant its count: the
 * next pass begins another.
 */
const count = async (
  { pool, now, log }: BooksParts,
  walk: Walk,
  range: Range,
  isFirst: boolean,
): Promise<void> => {
  if (walk !== 'posting') return;
  try {
    await countPostings(pool, { ...range, isFirst, now: now() });
  } catch (error) {
    if (isPassing(error)) throw error;
    log.error({ merchantId: range.from.merchantId, error }, 'postings were not counted');
  }
};

/** Checks the next range of a table that is due; false when none is. */
const walkTable = async (parts: BooksParts, rows?: number): Promise<boolean> => {
  const { pool, now } = parts;
  const began = now();
  const [walk] = await run<TakenWalk>(pool, take, [began, began.add({ milliseconds: lease_ms })]);
  if (!walk) return false;
  const { name } = walk;
  const from = { merchantId: walk.atMerchantId, id: walk.atId };
  const size = rows ?? range_rows[name];
  const [end] = await run<Place>(pool, rangeEnd(name), [from.merchantId, from.id, size - 1]);
  const took_ms = await check(parts, name, { from, to: end ?? last }, size);
  const passBeganAt = walk.passBeganAt ?? began;
  const seen = (walk.passRows ?? 0n) + BigInt(size);
  const range = { rows: await rowsOf(pool, walk), size, took_ms };
  if (!end) {
    await count(parts, name, { from, to: last }, false);
    const due = now().add({ milliseconds: restAtEnd_ms(took_ms) });
    const pass_s = Math.ceil(now().since(passBeganAt).total('seconds'));
    const { merchantId, id } = beginning;
    await run(pool, move, [name, merchantId, id, due, null, passBeganAt, 0n, 0, seen, pass_s]);
    return true;
  }
  const { at, ranges } = await after(
    pool,
    walk,
    { from, to: end },
    { pass: passBeganAt, now: began },
  );
  await count(parts, name, { from, to: end }, ranges === 1);
  const due = now().add({ milliseconds: restAfter_ms(range) });
  const where = [name, at.merchantId, at.id, due, passBeganAt, null];
  await run(pool, move, [...where, seen, ranges, null, passOf_s(range)]);
  return true;
};

/** Checks the next range of what was left of a merchant; false when nothing is due. */
const walkAside = async (parts: BooksParts, rows?: number): Promise<boolean> => {
  const { pool, now } = parts;
  const began = now();
  const leased = began.add({ milliseconds: lease_ms });
  const [walk] = await run<TakenWalk>(pool, takeAside, [began, leased]);
  if (!walk) return false;
  const { name, atMerchantId: merchantId } = walk;
  const from = { merchantId, id: walk.atId };
  const size = rows ?? range_rows[name];
  const [end] = await run<Place>(pool, rangeEnd(name), [merchantId, from.id, size - 1]);
  const isLast = end?.merchantId !== merchantId;
  const to = isLast ? { merchantId, id: highestId } : end;
  const took_ms = await check(parts, name, { from, to }, size);
  const range = { rows: await rowsOf(pool, walk), size, took_ms };
  await count(parts, name, { from, to: end ?? last }, false);
  const due = now().add({ milliseconds: restAfter_ms(range) });
  if (isLast) await run(pool, endAside, [name, merchantId]);
  else await run(pool, moveAside, [name, merchantId, to.id, due]);
  return true;
};

/**
 * Checks the next range that is due, of a table or, when `asideFirst`, rather of what was left of a
 * merchant; false when none is. `rows` is its size where the walk's own does not fit.
 */
export const walkOn = async (
  parts: BooksParts,
  rows?: number,
  asideFirst = false,
): Promise<boolean> =>
  asideFirst
    ? (await walkAside(parts, rows)) || walkTable(parts, rows)
    : (await walkTable(parts, rows)) || walkAside(parts, rows);

/** Walks on until nothing is due, or for about a minute. */
const walkAWhile = async (parts: BooksParts, asideFirst: boolean): Promise<void> => {
  const began = performance.now();
  while (!parts.stopping.aborted && performance.now() - began < run_max_ms)
    if (!(await walkOn(parts, undefined, asideFirst))) return;
};

/** The background's part of the books. */
export const booksJobs = (parts: BooksParts): readonly Job[] => [
  {
    name: 'check-books',
    queue: 'schedules',
    due: [
      'exists (select 1 from books_walk where due_at <= $1)',
      'exists (select 1 from books_aside where due_at <= $1)',
    ],
    run: async () => {
      // One of them takes what was left of huge merchants first.
      const walked = await Promise.allSettled(
        Array.from({ length: walkers }, (_, index) => walkAWhile(parts, index === 0)),
      );
      for (const one of walked) if (one.status === 'rejected') throw one.reason;
      return done;
    },
  },
];
