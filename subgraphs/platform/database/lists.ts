/**
 * Lists as callers request them, of one merchant or, for the platform's operators, of all: newest
 * first, by keyset. A filter that an index supports is a range of that index; other filters check
 * row by row. Then a page checks a bounded number of rows: it may be shorter than requested, and its
 * cursor continues where it stopped.
 */
import { createHash } from 'node:crypto';
import { isUuid } from '../../rules/ids.ts';
import { modes as allModes, type Mode } from '../../rules/mode.ts';
import { isOfAll } from '../access/access.ts';
import { isRefusal, type Refusal, refuse, asCame } from '../../rules/refusal.ts';
import type { Principal } from '../access/principal.ts';
import {
  cursorOf,
  pageOf,
  pageRange,
  type Page,
  type PageRange,
  type Position,
  recordable,
  spanOf,
  type PageQuery,
  type Span,
} from './keyset.ts';
import {
  armsOf,
  edgeText,
  hasRest,
  pageText,
  totalText,
  type ListedTable,
  type ListQuery,
  type RowFilter,
  type WideReach,
} from './list-statements.ts';
import { reachOf } from './reach.ts';
import { isSharded } from './sql-file.ts';
import { run, type Runner } from './statement.ts';

/** How many there are, as far as that is cheap to say. */
export interface TotalCount {
  readonly count: number;
  /** False: there are more. */
  readonly isExact: boolean;
}

export interface ListedPage<Row> extends Page<Row> {
  readonly total: () => Promise<TotalCount>;
}

/** A page of a list or of a search, which is not counted. */
export type FoundPage<Row> = Page<Row> & Partial<Pick<ListedPage<Row>, 'total'>>;

/** The field of a list's connection that reports it. */
export const totalField = {
  totalCount: ({ total }: { readonly total: () => Promise<TotalCount> }) => total(),
};
/** The same for lists whose searches return such pages, too. */
export const foundTotalField = {
  totalCount: ({ total }: { readonly total?: () => Promise<TotalCount> }) => total?.() ?? null,
};

/** Rows that one page looks at, over all ranges of the index. */
export const looked_max_rows = 20_000;
/** A total is counted up to here, by looking at five times as many rows. */
const counted_max_rows = 10_000;
const lookedToCount_max_rows = 50_000;

/** Without a name: no connection keeps a plan of each combination of filters. */
export const runUnnamed = <Found extends object>(
  runner: Runner,
  { text, values }: { readonly text: string; readonly values: readonly unknown[] },
) => run<Found>(runner, { name: '', text }, values);

/** Whether a list is read of all merchants of sharded tables. */
const isOfShards = async (runner: Runner, { reach }: ListQuery): Promise<boolean> =>
  reach.merchantId === null && (await isSharded(runner));

/** How many rows a query's pages have, as far as that is cheap to say. */
export const listTotal = async (
  runner: Runner,
  listed: ListedTable,
  query: ListQuery,
): Promise<TotalCount> => {
  const walk = hasRest(listed, query) ? lookedToCount_max_rows : counted_max_rows + 1;
  const total = totalText(listed, query, walk, await isOfShards(runner, query));
  const [found] = await runUnnamed<{ count: number; looked: number }>(runner, total);
  if (!found) throw new Error('an aggregate without a row');
  return {
    count: Math.min(found.count, counted_max_rows),
    isExact: found.looked < walk && found.count <= counted_max_rows,
  };
};

/** Whether a row is on the page's side of an edge, or is it. */
const isBefore = (row: Position, edge: Position, { backwards }: PageRange): boolean => {
  const order =
    Temporal.Instant.compare(row.createdAt, edge.createdAt) ||
    (row.id < edge.id ? -1 : row.id > edge.id ? 1 : 0);
  return backwards ? order <= 0 : order >= 0;
};

/** A page that ends where the search stopped, although there may be further rows. */
const cutAt = <Row extends Position>(
  rows: readonly Row[],
  edge: Position,
  range: PageRange,
): Page<Row> => {
  const seen = rows.filter((row) => isBefore(row, edge, range));
  const page = pageOf(seen, range, true);
  if (seen.length > range.size) return page;
  const cursor = cursorOf(edge, range.bound);
  const stop = range.backwards ? { startCursor: cursor } : { endCursor: cursor };
  return { ...page, pageInfo: { ...page.pageInfo, ...stop } };
};

/**
 * The name of a page of one merchant's rows that an index finds: each table has few such texts.
 * Their plans are kept, since making one takes as long as reading ten rows (0.5 ms).
 */
const nameOf = ({ table }: ListedTable, text: string): string =>
  `${table.name}.list_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;

/** Reads a page in a checked range. */
const readRange = async <Row extends Position>(
  runner: Runner,
  listed: ListedTable,
  query: ListQuery,
  range: PageRange,
): Promise<Page<Row>> => {
  const isOverShards = await isOfShards(runner, query);
  const arms = isOverShards ? 1 : armsOf(listed, query);
  const walk = Math.max(range.size + 1, Math.ceil(looked_max_rows / Math.max(arms, 1)));
  const read = { range, walk, isOverShards };
  const mayBeCut = hasRest(listed, query);
  const readEdge = async (): Promise<Position | undefined> =>
    (await runUnnamed<Position>(runner, edgeText(listed, query, read)))[0];
  const bound = isOverShards && mayBeCut ? await readEdge() : undefined;
  const { text, values } = pageText(listed, query, read, bound);
  const name = mayBeCut || query.reach.merchantId === null ? '' : nameOf(listed, text);
  const rows = await run<Row>(runner, { name, text }, values);
  // A range whose page is full was not searched beyond it.
  const isWhole = arms === 1 && rows.length > range.size;
  const edge = mayBeCut && !isOverShards && !isWhole ? await readEdge() : bound;
  return edge ? cutAt(rows, edge, range) : pageOf(rows, range);
};

/** What a cursor of the list belongs to. */
export const boundOf = (
  { table }: ListedTable,
  { reach, asked }: ListQuery,
): readonly unknown[] => [`${table.name}.filtered`, reach, asked];

/**
 * Reads a page. Where no index helps, it may be shorter than requested, even empty, although
 * `hasNextPage` says that there may be others. `bad_request` for a wrong size or cursor.
 */
export const readList = async <Row extends Position>(
  runner: Runner,
  listed: ListedTable,
  query: ListQuery,
): Promise<ListedPage<Row> | Refusal> => {
  const range = pageRange(query.page, boundOf(listed, query), query.page_max);
  if (isRefusal(range)) return range;
  const page = await readRange<Row>(runner, listed, query, range);
  return { ...page, total: () => listTotal(runner, listed, query) };
};

/** A list that is a search: narrowed by the rows that have a value, and not counted. */
export const readSearch = async <Row extends Position>(
  runner: Runner,
  listed: ListedTable,
  query: ListQuery,
): Promise<Page<Row> | Refusal> => {
  const rows = query.rows.filter(({ value }) => value !== null && value !== undefined);
  const list = await readList<Row>(runner, listed, { ...query, rows });
  if (isRefusal(list)) return list;
  const { total: _, ...uncounted } = list;
  return uncounted;
};

type Given<Value> = Value | null | undefined;

/** What every filter of a list has; null or absent matches all. */
interface CommonFilter {
  readonly shopId?: Given<readonly string[]>;
  readonly mode?: Given<readonly Mode[]>;
  readonly amountFrom?: Given<bigint>;
  readonly amountTo?: Given<bigint>;
  /** From this moment on, and before that one; combined with `from` and `to`, both apply. */
  readonly since?: Given<Temporal.Instant>;
  readonly until?: Given<Temporal.Instant>;
}

export interface ListRequest extends PageQuery {
  readonly merchantId?: Given<string>;
  /** The modes for people who name none; absent: live. */
  readonly modes?: readonly Mode[];
  /** Adds test rows for a live key, and for people who name no modes. */
  readonly includeTest?: boolean;
  readonly from?: Given<string>;
  readonly to?: Given<string>;
  /** Values of the table's filter columns. */
  readonly columns: Readonly<Record<string, Given<readonly string[]>>>;
  readonly filter?: Given<CommonFilter>;
  /** Conditions of the list's own filter fields; a value of null or undefined is none. */
  readonly rows?: readonly RowFilter[];
  /** Rows of a page at most; absent: the usual limit. */
  readonly page_max?: number;
}

/** A row has one of these values; `column` is with its table. */
export const oneOf = (column: string, values: Given<readonly string[]>): RowFilter => ({
  sql: (parameter) => `${column} = any (${parameter}::text[])`,
  value: values,
});

/** A row has this value; an index orders a merchant's rows by it, behind `indexedBy`. */
export const exactly = (
  column: string,
  value: Given<string>,
  { type = 'text', indexedBy = [] }: Pick<RowFilter, 'indexedBy'> & { type?: 'text' | 'uuid' } = {},
): RowFilter => ({ sql: (parameter) => `${column} = ${parameter}::${type}`, value, indexedBy });

/** A row belongs to this payment; `bad_request` for an invalid id. */
export const ofPaymentId = (column: string, id: Given<string>): RowFilter | Refusal =>
  typeof id === 'string' && !isUuid(id)
    ? refuse('bad_request', `payment_id: expected a UUID, got ${asCame(id)}`)
    : exactly(column, id?.toLowerCase(), { type: 'uuid' });

/** The later of two moments; either may be missing. */
export const later = (one: Temporal.Instant | null, other: Given<Temporal.Instant>) =>
  one && other ? (Temporal.Instant.compare(one, other) > 0 ? one : other) : (one ?? other ?? null);
/** The earlier of two moments. */
export const earlier = (one: Temporal.Instant | null, other: Given<Temporal.Instant>) =>
  one && other ? (Temporal.Instant.compare(one, other) < 0 ? one : other) : (one ?? other ?? null);

const mistakeIn = ({ shopId, since, until, amountFrom, amountTo }: CommonFilter): string | null => {
  const wrong = shopId?.find((id) => !isUuid(id));
  if (wrong !== undefined) return 'filter.shopId: expected UUIDs';
  if (since && until && Temporal.Instant.compare(since, until) > 0)
    return 'filter.since: expected a moment not after filter.until';
  return (amountFrom ?? 0n) > (amountTo ?? amountFrom ?? 0n)
    ? 'filter.amountFrom: expected no more than filter.amountTo'
    : null;
};

/** The rows that a caller reads for these names; a key never reads beyond its own shop and mode. */
const reachWithin = async (
  runner: Runner,
  principal: Principal,
  { merchantId, modes = ['live'], includeTest = false, filter }: ListRequest,
): Promise<WideReach> => {
  const named: WideReach = isOfAll(principal, merchantId)
    ? { merchantId: null, shopIds: [], modes: [] }
    : await reachOf(runner, principal, merchantId, includeTest);
  const own = principal.kind === 'key' ? named.modes : includeTest ? allModes : modes;
  const reached = filter?.mode
    ? (principal.kind === 'key' ? named.modes : allModes).filter((mode) =>
        filter.mode?.includes(mode),
      )
    : own;
  const shops = filter?.shopId?.map((id) => id.toLowerCase());
  const shopIds = shops ? named.shopIds.filter((id) => shops.includes(id)) : named.shopIds;
  return { merchantId: named.merchantId, shopIds, modes: reached };
};

const rowsOf = (listed: ListedTable, reach: WideReach, request: ListRequest): RowFilter[] => {
  const { shopId, amountFrom, amountTo } = request.filter ?? {};
  const name = listed.table.name;
  const isShopInIndex = reach.merchantId !== null && (listed.by ?? ['shop']).includes('shop');
  const amount = listed.amount ?? `${name}.amount`;
  const filters: RowFilter[] = [
    {
      sql: (parameter) => `${name}.shop_id = any (${parameter}::uuid[])`,
      value: isShopInIndex ? null : shopId,
    },
    { sql: (parameter) => `${amount} >= ${parameter}::int8`, value: amountFrom },
    { sql: (parameter) => `${amount} <= ${parameter}::int8`, value: amountTo },
    ...(request.rows ?? []),
  ];
  return filters.filter(({ value }) => value !== null && value !== undefined);
};

/** A request as its list reads it; `bad_request` for a wrong filter or day. */
export const queryOf = async (
  runner: Runner,
  principal: Principal,
  listed: ListedTable,
  request: ListRequest,
): Promise<ListQuery | Refusal> => {
  const { filter, from, to, first, after, last, before } = request;
  const mistake = mistakeIn(filter ?? {});
  if (mistake) return refuse('bad_request', mistake);
  const days = spanOf(from, to);
  if (isRefusal(days)) return days;
  const span: Span = {
    since: later(days.since, filter?.since && recordable(filter.since)),
    until: earlier(days.until, filter?.until && recordable(filter.until)),
  };
  const reach = await reachWithin(runner, principal, request);
  // Each value once, in one order: equal filters are the same, however a caller writes them.
  const columns = Object.fromEntries(
    Object.entries(request.columns).map(([name, values]) => [
      name,
      values && [...new Set(values)].toSorted(),
    ]),
  );
  const rows = rowsOf(listed, reach, request);
  const values = rows.map(({ sql, value }) => [
    sql('', () => null),
    typeof value === 'bigint' ? String(value) : value,
  ]);
  const asked = [span.since, span.until, columns, values].map((part) => part ?? null);
  const page = { first, after, last, before };
  return { page, page_max: request.page_max, reach, span, columns, rows, asked };
};

/**
 * A list for every caller. `bad_request` for a wrong filter, day, size or cursor, and for a person
 * who must name a merchant and does not.
 */
export const openList =
  <Row extends Position>(listed: ListedTable) =>
  async (
    runner: Runner,
    principal: Principal,
    request: ListRequest,
  ): Promise<ListedPage<Row> | Refusal> => {
    const query = await queryOf(runner, principal, listed, request);
    return isRefusal(query) ? query : readList<Row>(runner, listed, query);
  };
