/**
 * What waits for a moment, by the time of whom it belongs to: rows of a shop with a test clock wait
 * for that clock, all others for the real time. Sweeps ask here what is due, so that no sweep of
 * the real time ever touches a shop that lives by its own.
 */
import { notSetAside, type Subject } from '../alerts/set-aside.ts';
import { run, type Runner, type Statement } from '../database/statement.ts';

/**
 * Whose time it is: a shop's with a test clock, in test mode; null: the real one, which everybody
 * else lives by.
 */
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
  /** The column by which a row is set aside. Absent: `id`. */
  readonly subject?: string;
  /** The columns that a found row has, with their names in the program. */
  readonly columns: string;
  /** What else holds for a row that waits, as SQL. */
  readonly where?: string;
  /** Whether what is due is locked, passing over what somebody else is writing. */
  readonly locked?: boolean;
}

/** So many merchants share one `dueOfEach`; of more, chance decides. */
const sharing_max = 100;

/** Finds what waits. */
export interface Due<Found> {
  /** Up to `limit` rows that are due by `now` on this timeline, longest due first. */
  due(runner: Runner, timeline: Timeline, now: Temporal.Instant, limit: number): Promise<Found[]>;
  /**
   * Up to `limit` rows that are due by `now` in the real time: every merchant with something due,
   * but those of `except`, has an equal share. It needs an index over merchant and moment, of which
   * it reads one entry for each merchant.
   */
  dueOfEach(
    runner: Runner,
    now: Temporal.Instant,
    limit: number,
    except: readonly string[],
  ): Promise<Found[]>;
  /** The name under which rows are set aside (`database/set-aside`): `due` passes over these. */
  readonly task: string;
  /** SQL: whether something is due by `$1` in the real time. */
  readonly isDue: string;
  /** SQL: the clocks by which something is due, as `clock` in `ClockParticipant.due`. */
  readonly byClock: string;
  /** SQL: the row was not set aside. `row` is an alias of the table. */
  notAside(row: string): string;
  /**
   * The row that is due for the longest, whoever has locked it, as it would be set aside; null when
   * none is.
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
  `not exists (select from test_clock where test_clock.merchant_id = ${row}.merchant_id and test_clock.shop_id = ${row}.shop_id and ${row}.mode = 'test')`;

/**
 * SQL: the row is the shop's, in test mode; merchant and shop are the parameters from `first` on.
 */
export const ofShop = (row: string, first: number): string =>
  `${row}.merchant_id = $${first} and ${row}.shop_id = $${first + 1} and ${row}.mode = 'test'`;

/** The same look for what lives by the real time, and for one shop with a test clock. */
const statementsOf = (
  name: string,
  select: string,
  order: string,
): readonly [Statement, Statement] => [
  { name: `${name}.due`, text: `${select} ${inRealTime('waiting')} ${order}` },
  { name: `${name}.due_of_shop`, text: `${select} ${ofShop('waiting', 3)} ${order}` },
];

/**
 * SQL: what is due of each merchant by `$1`, a share of `$2` for each. The walk goes from merchant
 * to merchant by the index, so that it costs the same however much one of them has waiting.
 */
const ofEachMerchant = ({ table, at, where = 'true' }: Waiting, due: string): string =>
  `with recursive head as (
      (select merchant_id, ${at} from ${table} where ${where} order by merchant_id, ${at} limit 1)
      union all
      select next.merchant_id, next.${at} from head cross join lateral (
        select merchant_id, ${at} from ${table} where ${where} and merchant_id > head.merchant_id
        order by merchant_id, ${at} limit 1) as next),
    sharing as materialized (select merchant_id from head where ${at} <= $1 and merchant_id <> all ($3::uuid[]) order by random() limit ${sharing_max})
    select found.* from sharing cross join lateral (${due}
      limit greatest(1, $2::int / (select count(*) from sharing))`;

/** The statements that find rows which wait for a moment. */
export const dueOn = <Found extends object>(waiting: Waiting): Due<Found> => {
  const { name, table, at, subject = 'id', columns, where = 'true', locked = false } = waiting;
  const notAside = (row: string): string =>
    notSetAside(name, `${row}.merchant_id`, `${row}.${subject}::text`);
  const select = (wanted: string): string =>
    `select ${wanted} from ${table} as waiting where ${where} and ${at} <= $1 and ${notAside('waiting')}`;
  const oldest = `order by ${at} limit $2`;
  const lock = locked ? ' for update of waiting skip locked' : '';
  const [everybody, oneShop] = statementsOf(name, `${select(columns)} and`, oldest + lock);
  const each: Statement = {
    name: `${name}.due_of_each`,
    text: `${ofEachMerchant(
      waiting,
      `${select(columns)} and waiting.merchant_id = sharing.merchant_id and ${inRealTime('waiting')} order by ${at}`,
    )}${lock}) as found`,
  };
  const [firstOfAll, firstOfShop] = statementsOf(
    `${name}.first`,
    `${select(`merchant_id as "merchantId", ${subject}::text as "subjectId"`)} and`,
    oldest,
  );
  const read = <Row extends object>(
    runner: Runner,
    statements: readonly [Statement, Statement],
    timeline: Timeline,
    values: readonly unknown[],
  ) =>
    timeline === null
      ? run<Row>(runner, statements[0], values)
      : run<Row>(runner, statements[1], [...values, timeline.merchantId, timeline.shopId]);
  const earliest: Statement = {
    name: `${name}.next`,
    text: `select min(${at}) as at from ${table} as waiting where ${where} and ${at} > $1 and ${ofShop('waiting', 2)}`,
  };
  return {
    due: (runner, timeline, now, limit) =>
      read<Found>(runner, [everybody, oneShop], timeline, [now, limit]),
    dueOfEach: (runner, now, limit, except) => run<Found>(runner, each, [now, limit, except]),
    task: name,
    byClock: `from clock join ${table} as waiting on waiting.merchant_id = clock.merchant_id and waiting.shop_id = clock.shop_id
      and waiting.mode = 'test' where ${where} and ${at} <= clock.at and ${notAside('waiting')}`,
    isDue: `exists (${select('')} and ${inRealTime('waiting')})`,
    notAside,
    first: async (runner, timeline, now) =>
      (await read<Subject>(runner, [firstOfAll, firstOfShop], timeline, [now, 1]))[0] ?? null,
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
