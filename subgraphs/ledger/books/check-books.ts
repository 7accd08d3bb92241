/**
 * Checks the books of the merchants in turn, in the background. A turn checks some thousand rows, so
 * that a very large merchant does not delay others. It is leased: after a kill it is repeated.
 */
import { raw, type InferEntity } from '@mikro-orm/core';
import type pg from 'pg';
import { raiseAlert } from '../../platform/alerts/alerts.ts';
import { isPassing, reportDeadLetter } from '../../platform/alerts/dead-letters.ts';
import { emOn } from '../../platform/database/orm-connections.ts';
import { newRowId, run, type Runner, type Statement } from '../../platform/database/statement.ts';
import { sweep, type Job } from '../../platform/queue/run-job.ts';
import { watchGauges, type Logger } from '../../platform/tracing/telemetry.ts';
import { BooksCheckEntity } from '../entities.ts';
import {
  checkNames,
  checks,
  steps,
  sumPostings,
  type Asked,
  type CheckName,
  type Found,
  type Step,
} from './checks.ts';

/** A fact that the books hold twice and differently. */
export interface Difference extends Omit<Found, 'countedBy'> {
  readonly check: CheckName;
  readonly merchantId: string;
}

const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const lowestId = '00000000-0000-0000-0000-000000000000';
/** Before the first row of a step, and behind its last. */
export const ends = (step: Step): { readonly first: string; readonly last: string } =>
  step === 'hour' ? { first: '-infinity', last: 'infinity' } : { first: lowestId, last: highestId };

const totalsPlace: Statement = {
  name: 'books.totals_place',
  text: `select sequence as offset, exists (select 1 from totals_walk) as "isWalking"
    from consumer_offset where consumer = 'totals'`,
};
/** Up to so many uncounted changes are examined: with more, the check reports nothing. */
const uncounted_max = 10_000;
const uncounted: Statement = {
  name: 'books.uncounted',
  text: `(select subject_id as id from event where sequence > $1 order by sequence limit ${uncounted_max})
    union all (select subject_id from event where sequence is null order by position limit ${uncounted_max})
    union all (select subject_id from consumer_retry where consumer = 'totals' limit ${uncounted_max})`,
};

interface TotalsPlace {
  readonly offset: bigint;
  readonly isWalking: boolean;
}
const readTotalsPlace = async (runner: Runner): Promise<TotalsPlace> => {
  const [place] = await run<TotalsPlace>(runner, totalsPlace, []);
  return place ?? { offset: 0n, isWalking: true };
};

/** Skips facts whose change is uncounted, or was when they were read: `before` is of then. */
const withoutUncounted = async (
  runner: Runner,
  before: TotalsPlace,
  found: readonly Found[],
): Promise<readonly Found[]> => {
  if (found.length === 0 || before.isWalking) return [];
  const waiting = await run<{ id: string }>(runner, uncounted, [before.offset]);
  if (waiting.length >= uncounted_max || (await readTotalsPlace(runner)).isWalking) return [];
  const ids = new Set(waiting.map(({ id }) => id));
  return found.filter(({ countedBy = [] }) => !countedBy.some((id) => ids.has(id)));
};

const ask = async (runner: Runner, check: CheckName, asked: Asked): Promise<Difference[]> => {
  const before = check.endsWith('_counted') ? await readTotalsPlace(runner) : null;
  const { statement, values } = checks[check];
  const found = await run<Found>(runner, statement, values(asked));
  const certain = before ? await withoutUncounted(runner, before, found) : found;
  return certain.map(({ shopId, mode, subjectId, detail, fields }) => ({
    check,
    merchantId: asked.merchantId,
    shopId,
    mode,
    subjectId,
    detail,
    fields: { ...fields, check },
  }));
};

/**
 * What is wrong with a range of a merchant's books. Safe under concurrent work: a fact and its
 * consequences are one transaction, and each check is one statement, which sees all of it or
 * nothing.
 */
export const checkStep = async (
  runner: Runner,
  step: Step,
  asked: Asked,
): Promise<Difference[]> => {
  const found: Difference[] = [];
  for (const check of checkNames)
    if (checks[check].step === step) found.push(...(await ask(runner, check, asked)));
  return found;
};

const slice_rows = 2_000;
/** A turn that was not ended is taken over after so long. */
const lease_ms = 600_000;
/** The pause after a check of a merchant's books. */
const rest_ms = 15 * 60_000;
/** The service checks for a tenth of each second, or without rests while a merchant is so late. */
const gentle_ms = 100;
const late_ms = 6 * 3_600_000;
const hurried_ms = 60_000;
const hurried_turns = 3;
/**
 * The age at which postings are summed: later postings cannot precede them, except by a mistake.
 */
const settled_ms = 5 * 60_000;

interface BooksDeps {
  readonly pool: pg.Pool;
  readonly now: () => Temporal.Instant;
  readonly log: Logger;
  readonly stopping: AbortSignal;
}

type BooksCheck = InferEntity<typeof BooksCheckEntity>;

/** How far the check of a merchant is. */
interface Progress {
  readonly step: Step;
  /** The last row that was checked, and of balances the last posting in `sums`. */
  readonly at: string;
  readonly sums: string;
  /** Whether the balances differed from these sums once: a posting may have arrived before them. */
  readonly isDoubted: boolean;
}
/** Where each check of a merchant begins. */
const start: Progress = { step: 'payment', at: lowestId, sums: '[]', isDoubted: false };

interface Turn extends Progress {
  readonly merchantId: string;
  readonly beganAt: Temporal.Instant;
}

const take: Statement = {
  name: 'books.take',
  text: `update books_check set due_at = $2, began_at = coalesce(began_at, $1) where merchant_id = (
      select merchant_id from books_check where due_at <= $1 order by due_at limit 1 for update skip locked)
    returning merchant_id as "merchantId", began_at as "beganAt", step, at, sums::text as sums, is_doubted as "isDoubted"`,
};

/** Up to when the books of every merchant have been checked; null without merchants. */
export const readOldestCheck = async (runner: Runner): Promise<Temporal.Instant | null> => {
  const first = { orderBy: { checkedAt: 'asc' }, limit: 1 } as const;
  const [oldest] = await emOn(runner).findAll(BooksCheckEntity, first);
  return oldest?.checkedAt ?? null;
};

/** The row that is so many behind another one in the order of ids, or of hours. */
const sliceEnd = (step: Step): Statement => {
  const [table, key, type] =
    step === 'hour' ? ['counted_fact', 'hour', 'timestamptz'] : [step, 'id', 'uuid'];
  return {
    name: `books.slice_${step}`,
    text: `select ${key} as at from ${table} where merchant_id = $1 and ${key} > $2::${type} order by ${key} offset $3 limit 1`,
  };
};
const sliceEnds = new Map<Step, Statement>(
  steps.filter((step) => step !== 'balance').map((step) => [step, sliceEnd(step)]),
);

const findEnd = async (
  pool: pg.Pool,
  { merchantId, step, at }: Turn,
  rows: number,
): Promise<string | null> => {
  const slice = sliceEnds.get(step);
  if (!slice) return null;
  const values = [merchantId, at, rows - 1];
  const [row] = await run<{ at: string | Temporal.Instant }>(pool, slice, values);
  const found = row ? String(row.at) : null;
  const settled = newRowId(Date.now() - settled_ms);
  return step === 'posting' && found !== null && found > settled ? null : found;
};

const behind = (turn: Progress): Progress | null => {
  const step = steps[steps.indexOf(turn.step) + 1];
  if (!step) return null;
  // Balances go on from the postings that are summed.
  return { ...turn, step, at: step === 'balance' ? turn.at : ends(step).first };
};

/** Raises an alert for each difference, once; returns the number of new ones. */
const report = async (
  { pool, now, log }: BooksDeps,
  differences: readonly Difference[],
): Promise<void> => {
  for (const { check, subjectId, ...difference } of differences) {
    const kind = check.startsWith('event_') ? 'event_without_delivery' : 'books_differ';
    const alert = { ...difference, kind, subjectId: `${check}:${subjectId}`, at: now() } as const;
    if (await raiseAlert(pool, alert)) log.error({ check }, 'the books differ');
  }
};

/** Checks up to a row, or the rest of the step; returns where the check continues. */
const checkSlice = async (
  deps: BooksDeps,
  turn: Turn,
  to: string | null,
  rows: number,
): Promise<Progress | null> => {
  const { pool } = deps;
  const { merchantId, step, at: from, sums } = turn;
  // Concurrent inserts may exceed the slice.
  const asked = {
    merchantId,
    from,
    to: to ?? ends(step).last,
    limit: to === null ? null : 2 * rows,
    sums,
  };
  const found = await checkStep(pool, step, asked);
  if (step === 'balance' && sums !== '[]' && !turn.isDoubted)
    if (found.some(({ check }) => check === 'balance_adds_up'))
      return { step: 'posting', at: lowestId, sums: '[]', isDoubted: true };
  await report(deps, found);
  if (to === null) return behind(turn);
  if (step !== 'posting') return { ...turn, at: to };
  const [row] = await run<{ sums: string }>(pool, sumPostings, [merchantId, from, to, sums]);
  return { ...turn, at: to, sums: row?.sums ?? sums };
};

/**
 * Checks the next slice; returns where the check continues, null at its end. A failing slice is
 * made smaller until the failing row is alone; that row is reported and skipped.
 */
const checkNext = async (
  deps: BooksDeps,
  turn: Turn,
  size: number,
): Promise<{ readonly next: Progress | null; readonly isFull: boolean }> => {
  const { pool } = deps;
  const { merchantId, step } = turn;
  for (let rows = size; ; rows = Math.ceil(rows / 4)) {
    const to = await findEnd(pool, turn, rows);
    try {
      return { next: await checkSlice(deps, turn, to, rows), isFull: to !== null };
    } catch (error) {
      if (isPassing(error)) throw error;
      if (rows > 1 && step !== 'balance') continue;
      await reportDeadLetter(
        pool,
        'check-books',
        { merchantId, subjectId: `${step}/${to ?? turn.at}` },
        error,
      );
      return { next: to === null ? behind(turn) : { ...turn, at: to }, isFull: to !== null };
    }
  }
};

/**
 * Takes the turn of the longest waiting merchant: checks a whole slice, or the rest of its books if
 * that is less. False when no turn is due.
 */
export const checkTurn = async (deps: BooksDeps, rows: number = slice_rows): Promise<boolean> => {
  const { pool, now } = deps;
  const lease = now().add({ milliseconds: lease_ms });
  const [turn] = await run<Turn>(pool, take, [now(), lease]);
  if (!turn) return false;
  const { merchantId, beganAt } = turn;
  // A worker that held the turn for too long finds another lease, and changes nothing.
  const store = ({ step, at, sums, isDoubted }: Progress, changes: Partial<BooksCheck>) =>
    emOn(pool).nativeUpdate(
      BooksCheckEntity,
      { merchantId, dueAt: lease },
      { ...changes, step, at, sums: raw('?::jsonb', [sums]), isDoubted },
    );
  let place: Turn = turn;
  for (;;) {
    const { next, isFull } = await checkNext(deps, place, rows);
    if (!next) {
      const dueAt = now().add({ milliseconds: rest_ms });
      await store(start, { dueAt, checkedAt: beganAt, beganAt: null });
      return true;
    }
    place = { ...turn, ...next };
    if (!isFull) continue;
    await store(next, { dueAt: now() });
    return true;
  }
};

/** The background's part of the books. */
export const booksJobs = (deps: BooksDeps): readonly Job[] => [
  sweep('check-books', ['exists (select 1 from books_check where due_at <= $1)'], async () => {
    const at = await readOldestCheck(deps.pool);
    const isLate = at !== null && deps.now().since(at).total('milliseconds') > late_ms;
    const until = performance.now() + (isLate ? hurried_ms : gentle_ms);
    const takeTurns = async (): Promise<void> => {
      while (!deps.stopping.aborted && performance.now() < until)
        if (!(await checkTurn(deps))) return;
    };
    await Promise.all(Array.from({ length: isLate ? hurried_turns : 1 }, takeTurns));
  }),
];

// What the checks of the books have come to, for the metrics.

const differences: Statement = {
  name: 'books.count_differences',
  text: `select split_part(subject_id, ':', 1) as check, count(*)::int as count from alert
    where kind in ('books_differ', 'event_without_delivery') and resolved_at is null group by 1`,
};

/** Unresolved differences, a zero for each check that has none. */
export const countDifferences = async (runner: Runner): Promise<ReadonlyMap<CheckName, number>> => {
  const rows = await run<{ check: CheckName; count: number }>(runner, differences, []);
  return new Map([
    ...checkNames.map((check) => [check, 0] as const),
    ...rows.map(({ check, count }) => [check, count] as const),
  ]);
};

/**
 * Adds the gauges of the books to the metrics of this process. They are read on
 * each scrape, so every process that has them reports the same. While the database is away they
 * keep their last values. Returns a function that removes them.
 */
export const watchBooks = (runner: Runner): (() => void) =>
  watchGauges(
    {
      name: 'books_differences',
      help: 'Unresolved differences found in the books, by check.',
      labelNames: ['check'],
      async collect() {
        const counts = await countDifferences(runner).catch(() => new Map<CheckName, number>());
        for (const [check, count] of counts) this.set({ check }, count);
      },
    },
    {
      name: 'books_checked_at_seconds',
      help: 'Time up to which the books of all merchants have been checked, as a Unix timestamp in seconds.',
      async collect() {
        const at = await readOldestCheck(runner).catch(() => null);
        if (at) this.set(at.epochMilliseconds / 1_000);
      },
    },
  );
