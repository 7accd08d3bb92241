/**
 * What waits for a moment, by the time of whom it belongs to: rows of a shop with a test clock wait
 * for that clock, all others for the real time. Sweeps ask here what is due, so that no sweep of
 * the real time ever touches a shop that lives by its own.
 */
import type pg from 'pg';
import { notDeadLetter, workBatch, type Subject } from '../alerts/dead-letters.ts';
import { ownersStatement, type Owner } from '../database/sql-file.ts';
import { inTransaction, run, type Runner, type Statement } from '../database/statement.ts';

/** The owner of the time: a shop with a test clock, in test mode; null: the real time. */
export type Timeline = { readonly merchantId: string; readonly shopId: string } | null;

/** Rows that wait for a moment. The table has `merchant_id`, `shop_id` and `mode`. */
export interface Waiting {
  /**
   * Unique in the program: the statements are named after it, and what is set aside of these rows
   * is set aside under it.
   */
  readonly name: string;
  readonly table: string;
  /** The column with the moment. */
  readonly at: string;
  /** The column that identifies a dead letter. Absent: `id`. */
  readonly subject?: string;
  /** The columns that a found row has, with their names in the program. */
  readonly columns: string;
  /** What else holds for a row that waits, as SQL. */
  readonly where?: string;
  /** Whether due rows are locked, skipping those that another session is writing. */
  readonly locked?: boolean;
}

// Whose rows are due: the merchants are found first, over all, and then each one's rows by a
// statement that names it. Nothing is locked here, and what is found is bounded: one merchant with
// a million due rows costs as much as a thousand, and the others are found behind it. `merchant_id`
// and the moment lead an index of the table.

/** So many of the longest due rows are looked at; behind them the merchants are walked. */
const oldest_max = 1_000;
/** So many merchants are looked at in one walk, and so many share what is read. */
const walk_max = 100;

/** Before the first merchant. */
const start = '00000000-0000-0000-0000-000000000000';

/** Reads rows of a merchant, `count` at most. */
type ReadOwned<Row> = (owner: Owner) => Promise<readonly Row[]>;

/** Reads the rows of each owner, and mixes them: one row of each, then the next of each. */
const readByTurns = async <Row>(owners: readonly Owner[], read: ReadOwned<Row>): Promise<Row[]> => {
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
const readShares = <Row>(
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

/** `due` is SQL: the `merchant_id` of each row that is due by `$1`. */
const ownersOf = ({ name, table, at, where = 'true' }: Waiting, due: string) => {
  const oldest = ownersStatement(`${name}.owners`, `${due} order by ${at} limit $2`);
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
  /**
   * Merchants that may have something due, without those of `except`: all of them, unless more than
   * a thousand rows are due. Then those of the oldest thousand, and of the next hundred merchants
   * behind those of the last time. The count is what they have among the oldest thousand.
   */
  const each = async (
    runner: Runner,
    now: Temporal.Instant,
    except: readonly string[],
  ): Promise<readonly Owner[]> => {
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
    /** The owners of the `limit` rows that are due for the longest. */
    oldest: read,
    each,
    /**
     * Reads the rows of the `limit` that are due for the longest; when so many are due, shares of
     * `each`.
     */
    byTurns: async <Row>(
      runner: Runner,
      now: Temporal.Instant,
      limit: number,
      readOwned: ReadOwned<Row>,
    ): Promise<Row[]> => {
      const oldestOnes = await read(runner, now, limit);
      return rowsOf(oldestOnes) < limit
        ? readByTurns(oldestOnes, readOwned)
        : readShares(await each(runner, now, []), limit, readOwned);
    },
  };
};

/**
 * SQL: the row does not live by a test clock. `row` is the alias of a table with `merchant_id`,
 * `shop_id` and `mode`.
 */
export const inRealTime = (row: string): string =>
  `not exists (select 1 from test_clock where test_clock.merchant_id = ${row}.merchant_id and test_clock.shop_id = ${row}.shop_id and ${row}.mode = 'test')`;

/**
 * SQL: the row is the shop's, in test mode; merchant and shop are the parameters from `first` on.
 */
const ofShop = (row: string, first: number): string =>
  `${row}.merchant_id = $${first} and ${row}.shop_id = $${first + 1} and ${row}.mode = 'test'`;

/**
 * The texts of the statements. Of one merchant or shop, `$3` is the merchant wherever it is named,
 * also in the subquery about what is set aside, so that one shard runs them.
 */
const textsOf = (waiting: Waiting) => {
  const { name, table, at, subject = 'id', columns, where = 'true', locked = false } = waiting;
  const notDead = (row: string, merchant: string): string =>
    notDeadLetter(name, merchant, `${row}.${subject}::text`);
  const select = (wanted: string, merchant = 'waiting.merchant_id'): string =>
    `select ${wanted} from ${table} as waiting where ${where} and ${at} <= $1 and ${notDead('waiting', merchant)}`;
  const oldest = `order by ${at} limit $2`;
  const taken = `${oldest}${locked ? ' for update of waiting skip locked' : ''}`;
  const inShop = ofShop('waiting', 3);
  const everybody = inRealTime('waiting');
  const identity = `merchant_id as "merchantId", ${subject}::text as "subjectId"`;
  return {
    ofMerchant: `${select(columns, '$3')} and waiting.merchant_id = $3 and ${everybody} ${taken}`,
    ofShop: `${select(columns, '$3')} and ${inShop} ${taken}`,
    first: `${select(identity)} and ${everybody} ${oldest}`,
    firstOfShop: `${select(identity, '$3')} and ${inShop} ${oldest}`,
    owners: `${select('merchant_id')} and ${everybody}`,
    isDue: `exists (${select('1')} and ${everybody})`,
    notDead: (row: string, merchant = `${row}.merchant_id`): string => notDead(row, merchant),
  };
};

/** The row that is due for the longest, even if locked, as it would be set aside; null: none is. */
const firstOf =
  (ofAll: Statement, ofOneShop: Statement) =>
  async (runner: Runner, timeline: Timeline, now: Temporal.Instant): Promise<Subject | null> => {
    const [row] = await (timeline === null
      ? run<Subject>(runner, ofAll, [now, 1])
      : run<Subject>(runner, ofOneShop, [now, 1, timeline.merchantId, timeline.shopId]));
    return row ?? null;
  };

/** The earliest moment after `now` for which something of the shop waits; null: nothing does. */
const nextOf = ({ name, table, at, where = 'true' }: Waiting) => {
  const earliest = {
    name: `${name}.next`,
    text: `select min(${at}) as at from ${table} as waiting where ${where} and ${at} > $1 and ${ofShop('waiting', 2)}`,
  };
  return async (
    runner: Runner,
    { merchantId, shopId }: NonNullable<Timeline>,
    now: Temporal.Instant,
  ): Promise<Temporal.Instant | null> => {
    type Earliest = { readonly at: Temporal.Instant | null };
    return (await run<Earliest>(runner, earliest, [now, merchantId, shopId]))[0]?.at ?? null;
  };
};

/** The statements that find rows which wait for a moment. */
export const dueOn = <Found extends object>(waiting: Waiting) => {
  const { name, table, at, where = 'true' } = waiting;
  const texts = textsOf(waiting);
  const owners = ownersOf(waiting, texts.owners);
  const statement = (part: string, text: string): Statement => ({ name: `${name}.${part}`, text });
  const ofMerchant = statement('due', texts.ofMerchant);
  const ofOneShop = statement('due_of_shop', texts.ofShop);
  const reading =
    (runner: Runner, now: Temporal.Instant): ReadOwned<Found> =>
    ({ merchantId, count }) =>
      run<Found>(runner, ofMerchant, [now, count, merchantId]);
  const inShop = (
    runner: Runner,
    { merchantId, shopId }: NonNullable<Timeline>,
    now: Temporal.Instant,
    limit: number,
  ): Promise<Found[]> => run<Found>(runner, ofOneShop, [now, limit, merchantId, shopId]);
  return {
    /**
     * Up to `limit` rows that are due by `now` on this timeline, longest due first: in this order
     * `workBatch` finds the row that fails.
     */
    due: async (
      runner: Runner,
      timeline: Timeline,
      now: Temporal.Instant,
      limit: number,
    ): Promise<Found[]> => {
      if (timeline) return inShop(runner, timeline, now, limit);
      const rows: Found[] = [];
      for (const owner of await owners.oldest(runner, now, limit))
        rows.push(...(await reading(runner, now)(owner)));
      return rows;
    },
    /**
     * Up to `limit` rows that are due by `now` in the real time: every merchant with something due,
     * but those of `except`, has an equal share, and what one leaves of it others have. It needs an
     * index over merchant and moment.
     */
    dueOfEach: async (
      runner: Runner,
      now: Temporal.Instant,
      limit: number,
      except: readonly string[],
    ): Promise<Found[]> =>
      readShares(await owners.each(runner, now, except), limit, reading(runner, now)),
    /**
     * As `due`, but when `limit` rows or more are due merchants share as in `dueOfEach`, and the
     * rows of all follow each other by turns.
     */
    dueByTurns: (
      runner: Runner,
      timeline: Timeline,
      now: Temporal.Instant,
      limit: number,
    ): Promise<Found[]> =>
      timeline
        ? inShop(runner, timeline, now, limit)
        : owners.byTurns(runner, now, limit, reading(runner, now)),
    /** The name under which rows are set aside (`alerts/dead-letters`): `due` passes over these. */
    task: name,
    /** SQL: the clocks that make something due, as `clock` in `ClockParticipant.due`. */
    byClock: `from clock join ${table} as waiting on waiting.merchant_id = clock.merchant_id and waiting.shop_id = clock.shop_id
      and waiting.mode = 'test' where ${where} and ${at} <= clock.at and ${texts.notDead('waiting')}`,
    /** SQL: whether something is due by `$1` in the real time. */
    isDue: texts.isDue,
    /** SQL: the row was not set aside. `row` is an alias of the table, `merchant` is whose it is. */
    notDead: texts.notDead,
    first: firstOf(statement('first', texts.first), statement('first_of_shop', texts.firstOfShop)),
    next: nextOf(waiting),
  };
};

export type Due<Found extends object> = ReturnType<typeof dueOn<Found>>;

/** How many rows one round takes. */
const round_max = 200;

/**
 * Works the rows that are due on a timeline, in rounds of one transaction each. Gives how many there
 * were.
 */
export const workDue = async <Found extends object>(
  pool: pg.Pool,
  rows: Due<Found>,
  clock: () => Temporal.Instant,
  timeline: Timeline,
  work: (client: pg.PoolClient, row: Found, now: Temporal.Instant) => Promise<void>,
): Promise<number> => {
  for (let seen = 0; ;) {
    const now = clock();
    const workRound = (most: number) =>
      inTransaction(pool, async (client) => {
        const due = await rows.due(client, timeline, now, most);
        for (const row of due) await work(client, row, now);
        return due.length;
      });
    const { result, limit } = await workBatch(pool, {
      task: rows.task,
      limit: round_max,
      work: workRound,
      first: () => rows.first(pool, timeline, now),
    });
    seen += result;
    if (result < limit) return seen;
  }
};
