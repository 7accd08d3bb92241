/**
 * What waits for a moment, by the time of whom it belongs to: rows of a shop with a test clock wait for that clock, all others for the real time.
 * Sweeps ask here what is due, so that no sweep of the real time ever touches a shop that lives by its own.
 */
import { run, type Runner, type Statement } from '../database/statement.ts';

/** Whose time it is: a shop's with a test clock, in test mode; null: the real one, which everybody else lives by. */
export type Timeline = { readonly merchantId: string; readonly shopId: string } | null;

/** Rows that wait for a moment. The table has `merchant_id`, `shop_id` and `mode`. */
export interface Waiting {
  /** Unique in the program: the statements are named after it. */
  readonly name: string;
  readonly table: string;
  /** The column with the moment. */
  readonly at: string;
  /** The columns that a found row has, with their names in the program. */
  readonly columns: string;
  /** What else holds for a row that waits, as SQL. */
  readonly where?: string;
  /** Whether what is due is locked, passing over what somebody else is writing. */
  readonly locked?: boolean;
}

/** Finds what waits. */
export interface Due<Found> {
  /** Up to `most` rows that are due by `now` on this timeline, longest due first. */
  due(runner: Runner, timeline: Timeline, now: Temporal.Instant, most: number): Promise<Found[]>;
  /** The earliest moment after `now` for which something of the shop waits; null when nothing does. */
  next(runner: Runner, timeline: NonNullable<Timeline>, now: Temporal.Instant): Promise<Temporal.Instant | null>;
}

/** SQL: the row does not live by a test clock. `row` is the alias of a table with `merchant_id`, `shop_id` and `mode`. */
export const inRealTime = (row: string): string =>
  `not exists (select from test_clock where test_clock.merchant_id = ${row}.merchant_id and test_clock.shop_id = ${row}.shop_id and ${row}.mode = 'test')`;

/** SQL: the row is the shop's, in test mode; merchant and shop are the parameters from `first` on. */
export const ofShop = (row: string, first: number): string => `${row}.merchant_id = $${first} and ${row}.shop_id = $${first + 1} and ${row}.mode = 'test'`;

/** The statements that find rows which wait for a moment. */
export const dueOn = <Found extends object>({ name, table, at, columns, where = 'true', locked = false }: Waiting): Due<Found> => {
  const select = `select ${columns} from ${table} as waiting where ${where} and ${at} <= $1`;
  const oldest = `order by ${at} limit $2${locked ? ' for update of waiting skip locked' : ''}`;
  const everybody: Statement = { name: `${name}.due`, text: `${select} and ${inRealTime('waiting')} ${oldest}` };
  const oneShop: Statement = { name: `${name}.due_of_shop`, text: `${select} and ${ofShop('waiting', 3)} ${oldest}` };
  const earliest: Statement = {
    name: `${name}.next`,
    text: `select min(${at}) as at from ${table} as waiting where ${where} and ${at} > $1 and ${ofShop('waiting', 2)}`,
  };
  return {
    due: (runner, timeline, now, most) =>
      timeline === null ? run<Found>(runner, everybody, [now, most]) : run<Found>(runner, oneShop, [now, most, timeline.merchantId, timeline.shopId]),
    next: async (runner, { merchantId, shopId }, now) => {
      const [row] = await run<{ at: Temporal.Instant | null }>(runner, earliest, [now, merchantId, shopId]);
      return row?.at ?? null;
    },
  };
};
