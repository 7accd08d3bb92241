/**
 * Proves the books continuously and cheaply: each table is walked in the order of its key, a range
 * at a time, from the place that is kept; at its end the walk begins again. After a range it rests
 * ten times as long as the range took, so that all walks together use a small part of one
 * connection however large the tables are. A walk is leased, so that one process takes it at a time
 * and a kill only repeats a range.
 */
import type pg from 'pg';
import { raiseAlert } from '../../alerts/raise-alert.ts';
import { isPassing, setAside } from '../../alerts/set-aside.ts';
import { run, type Statement } from '../../database/statement.ts';
import { done, type Job } from '../../queue/run-job.ts';
import type { Logger } from '../../service/tracing/telemetry.ts';
import type { CheckName, Difference, Walk } from './check.ts';
import { beginning, checkRows, type Place } from './check-books.ts';

/** Rows of a range; of a shop the whole ledger is summed. */
const range_rows: Record<Walk, number> = {
  payment: 2_000,
  refund: 2_000,
  payout: 2_000,
  posting: 2_000,
  event: 2_000,
  shop: 20,
};
const rest_min_ms = 2_000;
const restFactor = 10;
/** A small table is not walked all the time. */
const pass_min_ms = 60_000;
const lease_ms = 600_000;
const every_ms = 2_000;

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
}

const take: Statement = {
  name: 'books.take',
  text: `update books_walk set due_at = $2 where name = (select name from books_walk where due_at <= $1 order by due_at limit 1 for update skip locked)
    returning name, at_merchant_id as "atMerchantId", at_id as "atId", pass_began_at as "passBeganAt"`,
};

const rangeEnd = (walk: Walk): Statement => ({
  name: `books.range_${walk}`,
  text: `select merchant_id as "merchantId", id from ${walk} where (merchant_id, id) > ($1::uuid, $2::uuid) order by merchant_id, id offset $3 limit 1`,
});

const move: Statement = {
  name: 'books.move',
  text: `update books_walk set at_merchant_id = $2, at_id = $3, due_at = $4, pass_began_at = $5, checked_at = coalesce($6, checked_at) where name = $1`,
};

const kindOf = (check: CheckName) =>
  check === 'event_delivered' || check === 'event_relayed'
    ? 'event_without_delivery'
    : 'books_differ';

/** Raises an alert for each difference, once; gives how many are new. */
const reportDifferences = async (
  pool: pg.Pool,
  differences: readonly Difference[],
  at: Temporal.Instant,
): Promise<number> => {
  let fresh = 0;
  for (const { check, subjectId, ...difference } of differences) {
    if (
      await raiseAlert(pool, {
        ...difference,
        kind: kindOf(check),
        subjectId: `${check}:${subjectId}`,
        at,
      })
    )
      fresh += 1;
  }
  return fresh;
};

interface Range {
  readonly from: Place;
  readonly to: Place;
}

const countRows = (walk: Walk): Statement => ({
  name: `books.count_${walk}`,
  text: `select count(*)::int as count from ${walk} where (merchant_id, id) > ($1::uuid, $2::uuid) and (merchant_id, id) <= ($3::uuid, $4::uuid)`,
});

/**
 * Checks a range of at most so many rows and raises its alerts; gives how many are new. A range
 * that fails is checked in halves, down to the row that fails, which is reported and passed over:
 * the walk never stands still.
 */
const checkRange = async (
  pool: pg.Pool,
  walk: Walk,
  { from, to }: Range,
  { limit, at }: { limit: number; at: Temporal.Instant },
): Promise<number> => {
  try {
    return await reportDifferences(pool, await checkRows(pool, walk, from, to, limit), at);
  } catch (error) {
    if (isPassing(error)) throw error;
    const [row] = await run<{ count: number }>(pool, countRows(walk), [
      from.merchantId,
      from.id,
      to.merchantId,
      to.id,
    ]);
    const half = Math.ceil(Math.min(row?.count ?? 0, limit) / 2);
    const [middle] = await run<Place>(pool, rangeEnd(walk), [
      from.merchantId,
      from.id,
      Math.max(0, half - 1),
    ]);
    if (half === 0 || !middle) return 0;
    if (row?.count !== 1) {
      const fresh = await checkRange(pool, walk, { from, to: middle }, { limit: half, at });
      return (
        fresh + (await checkRange(pool, walk, { from: middle, to }, { limit: limit - half, at }))
      );
    }
    await setAside(
      pool,
      'check-books',
      { merchantId: middle.merchantId, subjectId: `${walk}/${middle.id}` },
      error,
    );
    return 0;
  }
};

const last: Place = {
  merchantId: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  id: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
};

/**
 * Checks the next range of a walk that is due; false when none is. `rows` is its size where the
 * walk's own does not fit.
 */
export const walkOn = async ({ pool, now, log }: BooksParts, rows?: number): Promise<boolean> => {
  const began = now();
  const [walk] = await run<TakenWalk>(pool, take, [began, began.add({ milliseconds: lease_ms })]);
  if (!walk) return false;
  const from = { merchantId: walk.atMerchantId, id: walk.atId };
  const size = rows ?? range_rows[walk.name];
  const [end] = await run<Place>(pool, rangeEnd(walk.name), [from.merchantId, from.id, size - 1]);
  const started = performance.now();
  // Rows that come in between may be more than the range had; what is cut off is seen in the next
  // pass.
  const fresh = await checkRange(
    pool,
    walk.name,
    { from, to: end ?? last },
    { limit: 2 * size, at: now() },
  );
  if (fresh > 0) log.error({ walk: walk.name, differences: fresh }, 'the books differ');
  const rest_ms = Math.ceil(
    Math.max(end ? rest_min_ms : pass_min_ms, restFactor * (performance.now() - started)),
  );
  const passBeganAt = walk.passBeganAt ?? began;
  const at = end ?? beginning;
  await run(pool, move, [
    walk.name,
    at.merchantId,
    at.id,
    now().add({ milliseconds: rest_ms }),
    end ? passBeganAt : null,
    end ? null : passBeganAt,
  ]);
  return true;
};

/** The background's part of the books. */
export const booksJobs = (parts: BooksParts): readonly Job[] => [
  {
    name: 'check-books',
    queue: 'schedules',
    every_ms,
    due: 'exists (select from books_walk where due_at <= $1)',
    run: async () => {
      while (!parts.stopping.aborted && (await walkOn(parts)));
      return done;
    },
  },
];
