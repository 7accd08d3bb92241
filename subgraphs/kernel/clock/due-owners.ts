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

export interface DueOwners {
  /** The owners of the `limit` rows that are due for the longest. */
  oldest(runner: Runner, now: Temporal.Instant, limit: number): Promise<readonly Owner[]>;
  /**
   * Merchants that may have something due, without those of `except`: all of them, unless more than
   * a thousand rows are due. Then those of the oldest thousand, and of the next hundred merchants
   * behind those of the last time.
   */
  each(
    runner: Runner,
    now: Temporal.Instant,
    except: readonly string[],
  ): Promise<readonly string[]>;
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
  /** Goes on from merchant to merchant, each by one entry of the index, and begins anew. */
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
  return {
    oldest: read,
    each: async (runner, now, except) => {
      const first = await read(runner, now, oldest_max);
      const isAll = first.reduce((sum, { count }) => sum + count, 0) < oldest_max;
      const found = [
        ...first.map(({ merchantId }) => merchantId),
        ...(isAll ? [] : await walk(runner, now)),
      ];
      return [...new Set(found)].filter((merchantId) => !except.includes(merchantId));
    },
  };
};

/** Equal shares of `limit` rows; chance decides who has one when they are too many. */
export const shared = (merchantIds: readonly string[], limit: number): readonly Owner[] => {
  const order = new Map(merchantIds.map((merchantId) => [merchantId, Math.random()]));
  const chosen = merchantIds
    .toSorted((one, other) => (order.get(one) ?? 0) - (order.get(other) ?? 0))
    .slice(0, walk_max);
  const count = Math.max(1, Math.floor(limit / Math.max(1, chosen.length)));
  return chosen.map((merchantId) => ({ merchantId, count }));
};
