/** Checks a range of a table of the books, and raises an alert for what differs. */
import type pg from 'pg';
import { raiseAlert } from '../../alerts/raise-alert.ts';
import { isPassing, setAside } from '../../alerts/set-aside.ts';
import { run, type Statement } from '../../database/statement.ts';
import type { CheckName, Difference, Place, Range, Walk } from './check.ts';
import { checkRows } from './check-books.ts';

/** The row that is so many behind a place in the order of a table's key. */
export const rangeEnd = (walk: Walk): Statement => ({
  name: `books.range_${walk}`,
  text: `select merchant_id as "merchantId", id from ${walk} where (merchant_id, id) > ($1::uuid, $2::uuid) order by merchant_id, id offset $3 limit 1`,
});

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

/** How many rows of a table a range has. */
export const countRows = (walk: Walk): Statement => ({
  name: `books.count_${walk}`,
  text: `select count(*)::int as count from ${walk} where (merchant_id, id) > ($1::uuid, $2::uuid) and (merchant_id, id) <= ($3::uuid, $4::uuid)`,
});

/**
 * Checks a range of at most so many rows and raises its alerts; gives how many are new. A range
 * that fails is checked in halves, down to the row that fails, which is reported and passed over:
 * the walk never stands still.
 */
export const checkRange = async (
  pool: pg.Pool,
  walk: Walk,
  { from, to }: Range,
  { limit, at }: { limit: number; at: Temporal.Instant },
): Promise<number> => {
  try {
    return await reportDifferences(pool, await checkRows(pool, walk, { from, to }, limit), at);
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
