/**
 * Registries: one shop's rows in one mode, newest first, by keyset. A page is a range of one index
 * per shop and mode (a row comparison, not an OR: measured 0.9 ms against 1,450 ms at a depth of
 * 1.7 million rows). A filtered page merges such a range for each value of the filter: this finds a
 * status that a handful of five million payments have without walking past the others.
 * A range is read from one end, the cursor's or that of the days: with a second condition on
 * created_at PostgreSQL begins at that one and walks to the cursor.
 */
import type { Mode } from '../../rules/mode.ts';
import { isRefusal, type Refusal } from '../../rules/refusal.ts';
import { merchantOf } from '../access/access.ts';
import type { Principal } from '../access/principal.ts';
import {
  pageOf,
  pageRange,
  spanOf,
  type Page,
  type PageQuery,
  type PageRange,
  type Position,
} from './keyset.ts';
import { run, type Runner, type Statement } from './statement.ts';

export interface RegistryQuery extends PageQuery {
  readonly from?: string | null | undefined;
  readonly to?: string | null | undefined;
  /** Values of the table's filter columns, by column; null or absent matches all. */
  readonly filters: Readonly<Record<string, readonly string[] | null | undefined>>;
}

/**
 * A table whose columns merchant_id, shop_id, mode, created_at, id have an index in this order, and
 * another with the filter columns between mode and created_at.
 */
export interface RegistryTable {
  readonly name: string;
  /** Filter columns in the index's order, each with every value that it can have. */
  readonly filters: Readonly<Record<string, readonly string[]>>;
  /** SQL that holds for all rows of the registry; absent: every row of the table belongs to it. */
  readonly always?: string;
}

/** SQL: the row lies in the range whose ends are `registryRange`'s parameters `$4` to `$6`. */
export const withinRange =
  'created_at >= $4::timestamptz and (created_at, id) < ($5::timestamptz, $6::uuid)';
const withinRangeBackwards =
  'created_at < $4::timestamptz and (created_at, id) > ($5::timestamptz, $6::uuid)';

/**
 * SQL of the newest `$7` rows, or backwards of the oldest, within reach, days and cursor, with
 * `columns`, including `createdAt` and `id`. Its parameters are `registryRange`'s.
 */
export const registryText = (
  { name, filters, always }: RegistryTable,
  columns: string,
  { filtered, backwards }: Pick<RegistryRange, 'filtered' | 'backwards'>,
): string => {
  const order = backwards ? 'asc' : 'desc';
  const filterColumns = filtered ? Object.keys(filters) : [];
  const arms = filterColumns.map(
    (column, index) => `cross join unnest($${index + 8}::text[]) as wanted_${column}(value)`,
  );
  const equal = filterColumns.map((column) => `and ${name}.${column} = wanted_${column}.value`);
  return `select page.* from unnest($2::uuid[]) as s(shop_id) cross join unnest($3::text[]) as m(mode) ${arms.join(' ')} cross join lateral (
      select ${columns} from ${name}
      where ${name}.merchant_id = $1 and ${name}.shop_id = s.shop_id and ${name}.mode = m.mode ${equal.join(' ')} ${always ? `and ${always}` : ''}
        and ${backwards ? withinRangeBackwards : withinRange}
      order by ${name}.created_at ${order}, ${name}.id ${order} limit $7) page
    order by page."createdAt" ${order}, page.id ${order} limit $7`;
};

/** A checked query. */
interface RegistryRange extends PageRange {
  /** Whether it needs the text with filters. */
  readonly filtered: boolean;
  /** The text's parameters, for so many rows. */
  readonly values: (rows: number) => unknown[];
}

/** No row has it, and no id comes before it. */
const firstId = '00000000-0000-0000-0000-000000000000';

/** Each value once, in one order: equal filters are the same, however a caller writes them. */
export const distinct = (values: readonly string[]): readonly string[] =>
  [...new Set(values)].toSorted();

// The rows of registries that a caller reaches. A key reaches its shop and its mode; an operator a
// merchant's.

/** The owner of the rows, and their modes. */
export interface Reach {
  readonly merchantId: string;
  readonly shopIds: readonly string[];
  readonly modes: readonly Mode[];
}

const shopsOf: Statement = {
  name: 'shop.of_merchant',
  text: `select id from shop where merchant_id = $1 order by created_at, id`,
};

/** The shops of a merchant, oldest first. */
export const shopIdsOf = async (runner: Runner, merchantId: string): Promise<string[]> => {
  const shops = await run<{ id: string }>(runner, shopsOf, [merchantId]);
  return shops.map(({ id }) => id);
};

/**
 * The rows of a registry that the caller may read. `includeTest` adds test rows to a live key's.
 */
export const reachOf = async (
  runner: Runner,
  principal: Principal,
  named: string | null | undefined,
  includeTest = false,
): Promise<Reach> => {
  const merchantId = merchantOf(principal, named);
  if (principal.kind === 'key') {
    const modes =
      principal.mode === 'live' && includeTest ? (['live', 'test'] as const) : [principal.mode];
    return { merchantId, shopIds: [principal.shopId], modes };
  }
  return {
    merchantId,
    shopIds: await shopIdsOf(runner, merchantId),
    modes: includeTest ? ['live', 'test'] : ['live'],
  };
};

/** Checks a query; `bad_request` for a wrong day, cursor, or a size outside 1 to `limit`. */
export const registryRange = (
  table: RegistryTable,
  reach: Reach,
  query: RegistryQuery,
  limit?: number,
): RegistryRange | Refusal => {
  const { from, to } = query;
  // Each value once: two arms of one value would return its rows twice.
  const asked = Object.keys(table.filters).map((column) =>
    query.filters[column] ? distinct(query.filters[column]) : null,
  );
  const span = spanOf(from, to);
  if (isRefusal(span)) return span;
  const range = pageRange(query, [table.name, reach, from ?? null, to ?? null, asked], limit);
  if (isRefusal(range)) return range;
  const { backwards, position } = range;
  const filtered = asked.some((values) => values !== null);
  const arms = filtered
    ? Object.values(table.filters).map((all, index) => asked[index] ?? all)
    : [];
  const [since, until] = [span.since ?? '-infinity', span.until ?? 'infinity'];
  const [near, far] = backwards ? [since, until] : [until, since];
  // A cursor lies within the days, which it is bound to.
  const end = position ? [position.createdAt, position.id] : [near, firstId];
  const within = [reach.merchantId, reach.shopIds, reach.modes, far, ...end];
  return { ...range, filtered, values: (rows) => [...within, rows, ...arms] };
};

/**
 * The reader of a registry's pages; `columns` is what `columns()` of statement.ts makes. A page, or
 * `bad_request` for a wrong limit, cursor or day.
 */
export const registry = <Row extends Position>(table: RegistryTable, columns: string) => {
  const statement = (filtered: boolean, backwards: boolean): Statement => ({
    name: `${table.name}.list${filtered ? '_filtered' : ''}${backwards ? '_backwards' : ''}`,
    text: registryText(table, columns, { filtered, backwards }),
  });
  const forwards = { whole: statement(false, false), filtered: statement(true, false) };
  const backwards = { whole: statement(false, true), filtered: statement(true, true) };
  return async (
    runner: Runner,
    reach: Reach,
    query: RegistryQuery,
  ): Promise<Page<Row> | Refusal> => {
    const range = registryRange(table, reach, query);
    if (isRefusal(range)) return range;
    const { whole, filtered } = range.backwards ? backwards : forwards;
    const used = range.filtered ? filtered : whole;
    return pageOf(await run<Row>(runner, used, range.values(range.size + 1)), range);
  };
};
