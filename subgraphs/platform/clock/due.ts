/**
 * What waits for a moment, by the time of whom it belongs to: rows of a shop with a test clock wait
 * for that clock, all others for the real time. Sweeps ask here what is due, so that no sweep of
 * the real time ever touches a shop that lives by its own.
 */
import { notDeadLetter, type Subject } from '../alerts/dead-letters.ts';
import { run, type Runner, type Statement } from '../database/statement.ts';
import { ownersOf, readShares, type Owner, type ReadOwned } from './due-owners.ts';

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

/** Finds what waits. */
export interface Due<Found> {
  /** Up to `limit` rows that are due by `now` on this timeline, longest due first. */
  due(runner: Runner, timeline: Timeline, now: Temporal.Instant, limit: number): Promise<Found[]>;
  /**
   * Up to `limit` rows that are due by `now` in the real time: every merchant with something due,
   * but those of `except`, has an equal share, and what one leaves of it others have. It needs an
   * index over merchant and moment.
   */
  dueOfEach(
    runner: Runner,
    now: Temporal.Instant,
    limit: number,
    except: readonly string[],
  ): Promise<Found[]>;
  /**
   * As `due`, but when `limit` rows or more are due merchants share as in `dueOfEach`, and the rows
   * of all follow each other by turns.
   */
  dueByTurns(
    runner: Runner,
    timeline: Timeline,
    now: Temporal.Instant,
    limit: number,
  ): Promise<Found[]>;
  /** The same in the real time for rows that the caller reads, merchant by merchant. */
  readByTurns<Row>(
    runner: Runner,
    now: Temporal.Instant,
    limit: number,
    read: ReadOwned<Row>,
  ): Promise<Row[]>;
  /** Whose the `limit` rows are that are due for the longest in the real time. */
  owners(runner: Runner, now: Temporal.Instant, limit: number): Promise<readonly Owner[]>;
  /** The name under which rows are set aside (`alerts/dead-letters`): `due` passes over these. */
  readonly task: string;
  /** SQL: whether something is due by `$1` in the real time. */
  readonly isDue: string;
  /** SQL: the clocks that make something due, as `clock` in `ClockParticipant.due`. */
  readonly byClock: string;
  /**
   * SQL: the row was not set aside. `row` is an alias of the table, `merchant` is whose it is.
   */
  notDead(row: string, merchant?: string): string;
  /**
   * The row that is due for the longest, even if locked, as it would be set aside; null when none
   * is.
   */
  first(runner: Runner, timeline: Timeline, now: Temporal.Instant): Promise<Subject | null>;
  /**
   * The earliest moment after `now` for which something of the shop waits; null when nothing does.
   */
  next(
    runner: Runner,
    timeline: NonNullable<Timeline>,
    now: Temporal.Instant,
  ): Promise<Temporal.Instant | null>;
}

/**
 * SQL: the row does not live by a test clock. `row` is the alias of a table with `merchant_id`,
 * `shop_id` and `mode`.
 */
export const inRealTime = (row: string): string =>
  `not exists (select 1 from test_clock where test_clock.merchant_id = ${row}.merchant_id and test_clock.shop_id = ${row}.shop_id and ${row}.mode = 'test')`;

/**
 * SQL: the row is the shop's, in test mode; merchant and shop are the parameters from `first` on.
 */
export const ofShop = (row: string, first: number): string =>
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

/** The statements that find rows which wait for a moment. */
export const dueOn = <Found extends object>(waiting: Waiting): Due<Found> => {
  const { name, table, at, where = 'true' } = waiting;
  const texts = textsOf(waiting);
  const owners = ownersOf(waiting, texts.owners);
  const ofMerchant: Statement = { name: `${name}.due`, text: texts.ofMerchant };
  const ofOneShop: Statement = { name: `${name}.due_of_shop`, text: texts.ofShop };
  const firstOfAll: Statement = { name: `${name}.first`, text: texts.first };
  const firstOfShop: Statement = { name: `${name}.first_of_shop`, text: texts.firstOfShop };
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
  const earliest: Statement = {
    name: `${name}.next`,
    text: `select min(${at}) as at from ${table} as waiting where ${where} and ${at} > $1 and ${ofShop('waiting', 2)}`,
  };
  return {
    due: async (runner, timeline, now, limit) => {
      if (timeline) return inShop(runner, timeline, now, limit);
      const rows: Found[] = [];
      for (const owner of await owners.oldest(runner, now, limit))
        rows.push(...(await reading(runner, now)(owner)));
      return rows;
    },
    dueOfEach: async (runner, now, limit, except) =>
      readShares(await owners.each(runner, now, except), limit, reading(runner, now)),
    dueByTurns: (runner, timeline, now, limit) =>
      timeline
        ? inShop(runner, timeline, now, limit)
        : owners.byTurns(runner, now, limit, reading(runner, now)),
    readByTurns: (runner, now, limit, read) => owners.byTurns(runner, now, limit, read),
    owners: (runner, now, limit) => owners.oldest(runner, now, limit),
    task: name,
    byClock: `from clock join ${table} as waiting on waiting.merchant_id = clock.merchant_id and waiting.shop_id = clock.shop_id
      and waiting.mode = 'test' where ${where} and ${at} <= clock.at and ${texts.notDead('waiting')}`,
    isDue: texts.isDue,
    notDead: texts.notDead,
    first: async (runner, timeline, now) => {
      const [row] = await (timeline === null
        ? run<Subject>(runner, firstOfAll, [now, 1])
        : run<Subject>(runner, firstOfShop, [now, 1, timeline.merchantId, timeline.shopId]));
      return row ?? null;
    },
    next: async (runner, { merchantId, shopId }, now) => {
      const [row] = await run<{ at: Temporal.Instant | null }>(runner, earliest, [
        now,
        merchantId,
        shopId,
      ]);
      return row?.at ?? null;
    },
  };
};
