/**
 * Whose rows are due: the merchants are found first, over all, and then each one's rows by a
 * statement that names it. Nothing is locked here, and what is found is bounded: one merchant with
 * a million due rows costs as much as a thousand, and the others are found behind it.
 */
import { run, type Runner, type Statement } from '../database/statement.ts';

/** A merchant, and how many rows of its are to be read. */
export interface Owner {
  readonly merchantId: string;
  readonly count: number;
}

/** What is asked for owners. `merchant_id` and `at` lead an index of the table. */
interface Asked {
  readonly name: string;
  readonly table: string;
  readonly at: string;
  readonly where?: string;
}

/** So many of the longest due rows are looked at; behind them the merchants are walked. */
const oldest_max = 1_000;
/** So many merchants are looked at in one walk, and so many share what is read. */
const walk_max = 100;

/** Before the first merchant. */
const start = '00000000-0000-0000-0000-000000000000';

/** Reads rows of a merchant, `count` at most. */
export type ReadOwned<Row> = (owner: Owner) => Promise<readonly Row[]>;

/** Reads the rows of each owner, and mixes them: one row of each, then the next of each. */
export const readByTurns = async <Row>(
  owners: readonly Owner[],
  read: ReadOwned<Row>,
): Promise<Row[]> => {
  const found: (readonly Row[])[] = [];
  for (const owner of owners) found.push(await read(owner));
  const most = found.reduce((length, rows) => Math.max(length, rows.length), 0);
  return Array.from({ length: most }, (_, turn) =>
    found.flatMap((rows) => rows.slice(turn, turn + 1)),
  ).flat();
};

/**
 * Reads up to `limit` rows, an equal share of each owner. The owner with the fewest is read first:
 * its unused share passes to the next ones. When there are too many owners, the choice is random.
 */
export const readShares = <Row>(
  owners: readonly Owner[],
  limit: number,
  read: ReadOwned<Row>,
): Promise<Row[]> => {
  const chosen = owners
    .map((owner) => ({ owner, place: Math.random() }))
    .toSorted((one, other) => one.place - other.place)
    .slice(0, Math.min(walk_max, limit))
    .map(({ owner }) => owner)
    .toSorted((one, other) => one.count - other.count);
  let left = limit;
  let behind = chosen.length;
  return readByTurns(chosen, async ({ merchantId }) => {
    const rows = await read({ merchantId, count: Math.floor(left / behind) });
    left -= rows.length;
    behind -= 1;
    return rows;
  });
};

/** How many rows owners have together. */
const rowsOf = (owners: readonly Owner[]): number =>
  owners.reduce((sum, { count }) => sum + count, 0);

interface DueOwners {
  /** The owners of the `limit` rows that are due for the longest. */
  oldest(runner: Runner, now: Temporal.Instant, limit: number): Promise<readonly Owner[]>;
  /**
   * Merchants that may have something due, without those of `except`: all of them, unless more than
   * a thousand rows are due. Then those of the oldest thousand, and of the next hundred merchants
   * behind those of the last time. The count is what they have among the oldest thousand.
   */
  each(runner: Runner, now: Temporal.Instant, except: readonly string[]): Promise<readonly Owner[]>;
  /**
   * Reads the rows of the `limit` that are due for the longest; when so many are due, shares of
   * `each`.
   */
  byTurns<Row>(
    runner: Runner,
    now: Temporal.Instant,
    limit: number,
    read: ReadOwned<Row>,
  ): Promise<Row[]>;
}

/** `due` is SQL: the `merchant_id` of each row that is due by `$1`. */
export const ownersOf = ({ name, table, at, where = 'true' }: Asked, due: string): DueOwners => {
  const oldest: Statement = {
    name: `${name}.owners`,
    text: `select merchant_id as "merchantId", count(*)::int as count
      from (${due} order by ${at} limit $2) as oldest group by merchant_id`,
  };
  const next: Statement = {
    name: `${name}.next_owner`,
    text: `select merchant_id as "merchantId", ${at} <= $1 as "isDue" from ${table}
      where ${where} and ${at} is not null and merchant_id > $2 order by merchant_id, ${at} limit 1`,
  };
  const read = (runner: Runner, now: Temporal.Instant, limit: number): Promise<Owner[]> =>
    run<Owner>(runner, oldest, [now, limit]);
  let behind = start;
  /**
   * Continues from merchant to merchant, each by one entry of the index, and starts again at the
   * end.
   */
  const walk = async (runner: Runner, now: Temporal.Instant): Promise<readonly string[]> => {
    const found: string[] = [];
    for (let step = 0; step < walk_max; step += 1) {
      const [row] = await run<{ merchantId: string; isDue: boolean }>(runner, next, [now, behind]);
      behind = row?.merchantId ?? start;
      if (!row) return found;
      if (row.isDue) found.push(row.merchantId);
    }
    return found;
  };
  const each: DueOwners['each'] = async (runner, now, except) => {
    const first = await read(runner, now, oldest_max);
    const found = new Map(first.map(({ merchantId, count }) => [merchantId, count]));
    if (rowsOf(first) === oldest_max)
      for (const merchantId of await walk(runner, now))
        found.set(merchantId, found.get(merchantId) ?? 0);
    return [...found]
      .filter(([merchantId]) => !except.includes(merchantId))
      .map(([merchantId, count]) => ({ merchantId, count }));
  };
  return {
    oldest: read,
    each,
    byTurns: async (runner, now, limit, readOwned) => {
      const oldestOnes = await read(runner, now, limit);
      return rowsOf(oldestOnes) < limit
        ? readByTurns(oldestOnes, readOwned)
        : readShares(await each(runner, now, []), limit, readOwned);
    },
  };
};
