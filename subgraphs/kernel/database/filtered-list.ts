/**
 * Lists that people narrow as they like, of one merchant or, for the platform's operators, of all:
 * newest first, by keyset. What an index has in its order is a range of it, as in a registry; the
 * rest is looked for row by row, and a page looks at so many rows at most (decision A-230): then it
 * is shorter than asked for, and its cursor goes on where it stopped.
 */
import type { Mode } from '../rules/mode.ts';
import { isRefused, type Refused } from '../rules/refusal.ts';
import {
  cursorOf,
  pageInfoOf,
  pageOf,
  pageRange,
  type Page,
  type PageQuery,
  type PageRange,
  type Position,
  type Span,
} from './keyset.ts';
import type { RegistryTable } from './registry.ts';
import { run, type Runner } from './statement.ts';

/** Whose rows: a merchant's in these shops, or everybody's. */
export interface WideReach {
  readonly merchantId: string | null;
  readonly shopIds: readonly string[];
  readonly modes: readonly Mode[];
}

/** A condition on a row: SQL around the value's `$n`, and the value. */
export interface RowFilter {
  readonly sql: (parameter: string) => string;
  readonly value: unknown;
}

/** What is listed: a registry's table. All merchants' rows of it have an index by mode and time. */
export interface ListedTable {
  readonly table: RegistryTable;
  /** What `columns()` of statement.ts makes; `createdAt` and `id` are two of them. */
  readonly columns: string;
  /** SQL that holds for what is listed of all merchants, where that is less. */
  readonly ofAll?: string;
  /** SQL of a row's amount; absent: its column. */
  readonly amount?: string;
  /** What the index of one merchant's rows has before their time; absent: shop and mode. */
  readonly by?: readonly ('shop' | 'mode')[];
  /** Whether all merchants' index has the filter columns, too. */
  readonly isByColumnsOfAll?: boolean;
}

export interface ListQuery {
  readonly page: PageQuery;
  readonly reach: WideReach;
  readonly span: Span;
  /** Values of the table's filter columns; null or absent: any. */
  readonly columns: Readonly<Record<string, readonly string[] | null | undefined>>;
  /** What no index helps with. */
  readonly rows: readonly RowFilter[];
  /** Everything that was asked for, as JSON: what a cursor belongs to. */
  readonly asked: unknown;
}

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

/** The field of a list's connection that says so. */
export const totalField = {
  totalCount: ({ total }: { readonly total: () => Promise<TotalCount> }) => total(),
};
/** The same where searches give such pages, too. */
export const foundTotalField = {
  totalCount: ({ total }: { readonly total?: () => Promise<TotalCount> }) => total?.() ?? null,
};

/** Rows that one page looks at, over all ranges of the index. */
export const looked_max_rows = 20_000;
/** A total is counted up to here, by looking at five times as many rows. */
const counted_max_rows = 10_000;
const lookedToCount_max_rows = 50_000;

class Parameters {
  readonly values: unknown[] = [];
  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}

/** Values of the index's columns between mode and time, where they are asked for. */
const armColumns = (
  { table, isByColumnsOfAll = false }: ListedTable,
  { reach, columns }: ListQuery,
) => {
  const isAsked = Object.values(columns).some((values) => values !== null && values !== undefined);
  const isInIndex = reach.merchantId === null ? isByColumnsOfAll : isAsked;
  return isInIndex ? Object.entries(table.filters) : [];
};

const isBy = ({ by }: ListedTable, what: 'shop' | 'mode', { merchantId }: WideReach): boolean =>
  (by === undefined || by.includes(what)) && (what === 'mode' || merchantId !== null);

/** How many ranges of the index a query reads. */
const armsOf = (listed: ListedTable, query: ListQuery): number => {
  const { reach } = query;
  const sizes = [
    ...(isBy(listed, 'shop', reach) ? [reach.shopIds.length] : []),
    ...(isBy(listed, 'mode', reach) ? [reach.modes.length] : []),
    ...armColumns(listed, query).map(([column, all]) => new Set(query.columns[column] ?? all).size),
  ];
  return sizes.reduce((product, size) => product * size, 1);
};

/** SQL of the ranges: where they come from, and what holds in each. */
const ranges = (listed: ListedTable, query: ListQuery, parameters: Parameters) => {
  const { table, ofAll } = listed;
  const { merchantId, shopIds, modes } = query.reach;
  const from = ['(values (true)) as one(holds)'];
  const where = ['one.holds'];
  const always = merchantId === null ? (ofAll ?? table.always) : table.always;
  if (always !== undefined) where.push(always);
  if (merchantId !== null)
    where.push(`${table.name}.merchant_id = ${parameters.add(merchantId)}::uuid`);
  if (isBy(listed, 'shop', query.reach)) {
    from.push(`unnest(${parameters.add(shopIds)}::uuid[]) as s(shop_id)`);
    where.push(`${table.name}.shop_id = s.shop_id`);
  }
  if (isBy(listed, 'mode', query.reach)) {
    from.push(`unnest(${parameters.add(modes)}::text[]) as m(mode)`);
    where.push(`${table.name}.mode = m.mode`);
  }
  for (const [column, all] of armColumns(listed, query)) {
    const values = [...new Set(query.columns[column] ?? all)];
    from.push(`unnest(${parameters.add(values)}::text[]) as wanted_${column}(value)`);
    where.push(`${table.name}.${column} = wanted_${column}.value`);
  }
  return { from: from.join(' cross join '), where };
};

/** Conditions that no range of the index has. */
const restOf = (listed: ListedTable, query: ListQuery, parameters: Parameters): string[] => {
  const { table } = listed;
  const isInArms = armColumns(listed, query).length > 0;
  const byColumn = Object.entries(isInArms ? {} : query.columns).flatMap(([column, values]) =>
    values ? [`${table.name}.${column} = any (${parameters.add(values)}::text[])`] : [],
  );
  return [...byColumn, ...query.rows.map(({ sql, value }) => sql(parameters.add(value)))];
};

/**
 * SQL: the moments that a page reads. One end to read from: beside another PostgreSQL walks from
 * the outer to the inner. A cursor lies within the span, which it is bound to.
 */
const withinSpan = (
  { name }: RegistryTable,
  { since, until }: Span,
  range: Pick<PageRange, 'backwards' | 'position'> | null,
  parameters: Parameters,
): string[] => {
  const position = range?.position ?? null;
  const backwards = range?.backwards === true;
  const at = `${name}.created_at`;
  const where: string[] = [];
  if (since && (!position || !backwards))
    where.push(`${at} >= ${parameters.add(since)}::timestamptz`);
  if (until && (!position || backwards))
    where.push(`${at} < ${parameters.add(until)}::timestamptz`);
  if (position)
    where.push(
      `(${at}, ${name}.id) ${backwards ? '>' : '<'} (${parameters.add(position.createdAt)}::timestamptz, ${parameters.add(position.id)}::uuid)`,
    );
  return where;
};

/** Without a name PostgreSQL plans it for these very values: no one plan serves all filters. */
const ask = <Found extends object>(runner: Runner, text: string, { values }: Parameters) =>
  run<Found>(runner, { name: '', text }, values);

/** The rows of a page, one more than asked for when there are others. */
const readRows = <Row extends Position>(
  runner: Runner,
  listed: ListedTable,
  query: ListQuery,
  { range, walk }: { readonly range: PageRange; readonly walk: number },
): Promise<Row[]> => {
  const { name } = listed.table;
  const parameters = new Parameters();
  const { from, where } = ranges(listed, query, parameters);
  const within = [...where, ...withinSpan(listed.table, query.span, range, parameters)];
  const rest = restOf(listed, query, parameters);
  const order = range.backwards ? 'asc' : 'desc';
  const size = `limit ${parameters.add(range.size + 1)}::int`;
  const inOrder = `order by ${name}.created_at ${order}, ${name}.id ${order}`;
  const walked =
    rest.length === 0
      ? `${name} where ${within.join(' and ')}`
      : `(select * from ${name} where ${within.join(' and ')} ${inOrder} limit ${parameters.add(walk)}::int) ${name} where ${rest.join(' and ')}`;
  const text = `select page.* from ${from} cross join lateral (select ${listed.columns} from ${walked} ${inOrder} ${size}) page
    order by page."createdAt" ${order}, page.id ${order} ${size}`;
  return ask<Row>(runner, text, parameters);
};

/** Where the first range ends that a page did not look through; undefined: it looked at all. */
const readEdge = async (
  runner: Runner,
  listed: ListedTable,
  query: ListQuery,
  { range, walk }: { readonly range: PageRange; readonly walk: number },
): Promise<Position | undefined> => {
  const { name } = listed.table;
  const parameters = new Parameters();
  const { from, where } = ranges(listed, query, parameters);
  const within = [...where, ...withinSpan(listed.table, query.span, range, parameters)];
  const order = range.backwards ? 'asc' : 'desc';
  const text = `select edge.* from ${from} cross join lateral (select ${name}.created_at as "createdAt", ${name}.id from ${name}
      where ${within.join(' and ')} order by ${name}.created_at ${order}, ${name}.id ${order} offset ${parameters.add(walk - 1)}::int limit 1) edge
    order by edge."createdAt" ${order}, edge.id ${order} limit 1`;
  const [edge] = await ask<Position>(runner, text, parameters);
  return edge;
};

/** How many rows a query's pages have, as far as that is cheap to say. */
export const listTotal = async (
  runner: Runner,
  listed: ListedTable,
  query: ListQuery,
): Promise<TotalCount> => {
  const { name } = listed.table;
  const parameters = new Parameters();
  const { from, where } = ranges(listed, query, parameters);
  const within = [...where, ...withinSpan(listed.table, query.span, null, parameters)];
  const rest = restOf(listed, query, parameters);
  const walk = rest.length === 0 ? counted_max_rows + 1 : lookedToCount_max_rows;
  const most = `limit ${parameters.add(walk)}::int`;
  const text = `select count(*) filter (where seen.fits)::int as count, count(*)::int as looked from (
      select ${rest.length === 0 ? 'true' : rest.join(' and ')} as fits from ${from} cross join lateral (
        select * from ${name} where ${within.join(' and ')} order by ${name}.created_at desc, ${name}.id desc ${most}) ${name} ${most}) seen`;
  const [found] = await ask<{ count: number; looked: number }>(runner, text, parameters);
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

/** A page that ends where looking ended, although there may be further rows. */
const cutAt = <Row extends Position>(
  rows: readonly Row[],
  edge: Position,
  range: PageRange,
): Page<Row> => {
  const seen = rows.filter((row) => isBefore(row, edge, range));
  if (seen.length > range.size) return pageOf(seen, range);
  const nodes = range.backwards ? seen.toReversed() : seen;
  const cursor = cursorOf(edge, range.bound);
  const info = pageInfoOf(nodes, range, true);
  const pageInfo = range.backwards ? { startCursor: cursor } : { endCursor: cursor };
  return { nodes, pageInfo: { ...info, ...pageInfo } };
};

/**
 * Reads a page. Where no index helps it may be shorter than asked for, even empty, although
 * `hasNextPage` says that there may be others. `bad_request` for a wrong size or cursor.
 */
export const readList = async <Row extends Position>(
  runner: Runner,
  listed: ListedTable,
  query: ListQuery,
): Promise<ListedPage<Row> | Refused> => {
  const { name } = listed.table;
  const range = pageRange(query.page, [`${name}.filtered`, query.reach, query.asked]);
  if (isRefused(range)) return range;
  const arms = armsOf(listed, query);
  const walk = Math.max(range.size + 1, Math.ceil(looked_max_rows / Math.max(arms, 1)));
  const rows = await readRows<Row>(runner, listed, query, { range, walk });
  // One range whose page is full was not looked through further than that.
  const mayBeCut =
    restOf(listed, query, new Parameters()).length > 0 && !(arms === 1 && rows.length > range.size);
  const edge = mayBeCut ? await readEdge(runner, listed, query, { range, walk }) : undefined;
  const page = edge ? cutAt(rows, edge, range) : pageOf(rows, range);
  return { ...page, total: () => listTotal(runner, listed, query) };
};
