/**
 * Lists that people filter freely, of one merchant or, for the platform's operators, of all: newest
 * first, by keyset. A filter that an index supports is a range of that index, as in a registry;
 * other filters check row by row. A page checks a bounded number of rows: it may be shorter than
 * requested, and its cursor continues where it stopped.
 */
import { isRefusal, type Refusal } from '../../rules/refusal.ts';
import { cursorOf, pageOf, pageRange, type Page, type PageRange, type Position } from './keyset.ts';
import {
  armsOf,
  edgeText,
  hasRest,
  pageText,
  totalText,
  type ListedTable,
  type ListQuery,
} from './list-statements.ts';
import { isSharded } from './sharding.ts';
import { run, type Runner } from './statement.ts';

/** How many there are, as far as that is cheap to say. */
export interface TotalCount {
  readonly count: number;
  /** False: there are more. */
  readonly isExact: boolean;
}

/** A page, and how many rows all of its pages have. */
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

/** Without a name PostgreSQL plans it for these values: no single plan serves all filters. */
const ask = <Found extends object>(
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
  const [found] = await ask<{ count: number; looked: number }>(runner, total);
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
    (await ask<Position>(runner, edgeText(listed, query, read)))[0];
  const bound = isOverShards && mayBeCut ? await readEdge() : undefined;
  const rows = await ask<Row>(runner, pageText(listed, query, read, bound));
  // A range whose page is full was not searched beyond it.
  const isWhole = arms === 1 && rows.length > range.size;
  const edge = mayBeCut && !isOverShards && !isWhole ? await readEdge() : bound;
  return edge ? cutAt(rows, edge, range) : pageOf(rows, range);
};

/**
 * Reads a page. Where no index helps, it may be shorter than requested, even empty, although
 * `hasNextPage` says that there may be others. `bad_request` for a wrong size or cursor.
 */
export const readList = async <Row extends Position>(
  runner: Runner,
  listed: ListedTable,
  query: ListQuery,
): Promise<ListedPage<Row> | Refusal> => {
  const { name } = listed.table;
  const range = pageRange(query.page, [`${name}.filtered`, query.reach, query.asked]);
  if (isRefusal(range)) return range;
  const page = await readRange<Row>(runner, listed, query, range);
  return { ...page, total: () => listTotal(runner, listed, query) };
};
