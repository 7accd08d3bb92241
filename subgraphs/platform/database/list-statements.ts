/**
 * The statements of lists: a page, where the search ends, and the number of rows. A page is a range
 * of one index per shop and mode (a row comparison, not an OR: measured 0.9 ms against 1,450 ms at a
 * depth of 1.7 million rows). A filter that an index supports has a range for each of its values:
 * this finds a status that a handful of five million payments have without walking past the others.
 * Other filters check row by row.
 * Over all merchants of sharded tables a shard cannot take ranges from another query: rows are read
 * in their order, and the search ends where `edgeText` says.
 */
import type { Mode } from '../../rules/mode.ts';
import type { PageQuery, PageRange, Position, Span } from './keyset.ts';

/**
 * A table whose columns merchant_id, shop_id, mode, created_at, id have an index in this order, and
 * another with the filter columns between mode and created_at.
 */
export interface ListTable {
  readonly name: string;
  /** Filter columns in the index's order, each with every value that it can have. */
  readonly filters: Readonly<Record<string, readonly string[]>>;
  /** SQL that holds for all rows of the list; absent: every row of the table belongs to it. */
  readonly always?: string;
}

/** The owner of the rows: a merchant with these shops, or all merchants. */
export interface WideReach {
  readonly merchantId: string | null;
  readonly shopIds: readonly string[];
  readonly modes: readonly Mode[];
}

/**
 * A condition on a row: SQL around the value's `$n`, and the value. `merchant` returns the SQL of
 * the merchant whose rows are listed, null for all: a table joined to the listed one names it.
 */
export interface RowFilter {
  readonly sql: (parameter: string, merchant: () => string | null) => string;
  readonly value: unknown;
  /**
   * Present: an index orders a merchant's rows by these and then by this value. Such a value is the
   * range to read, however many rows the merchant has.
   */
  readonly indexedBy?: readonly ('shop' | 'mode')[];
}

/** What is listed: a table's rows. All merchants' rows of it have an index by mode and time. */
export interface ListedTable {
  readonly table: ListTable;
  /** What `columns()` of statement.ts makes; `createdAt` and `id` are two of them. */
  readonly columns: string;
  /** SQL that holds for what is listed of all merchants, where that is less. */
  readonly ofAll?: string;
  /** SQL of a row's amount; absent: its column. */
  readonly amount?: string;
  /** The index columns of one merchant's rows before their time; absent: shop and mode. */
  readonly by?: readonly ('shop' | 'mode')[];
  /** Whether all merchants' index has the filter columns, too. */
  readonly isByColumnsOfAll?: boolean;
}

export interface ListQuery {
  readonly page: PageQuery;
  /** Rows of a page at most; absent: the usual limit. */
  readonly page_max?: number | undefined;
  readonly reach: WideReach;
  readonly span: Span;
  /** Values of the table's filter columns; null or absent: any. */
  readonly columns: Readonly<Record<string, readonly string[] | null | undefined>>;
  /** What no index helps with. */
  readonly rows: readonly RowFilter[];
  /** The whole request as JSON: a cursor is bound to it. */
  readonly asked: unknown;
}

/** A text, and its values. */
interface ListText {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Parameters as they are numbered. */
export class Parameters {
  readonly values: unknown[] = [];
  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}

/** Values of the index's columns between mode and time, where the request has them. */
const armColumns = ({ table, isByColumnsOfAll = false }: ListedTable, query: ListQuery) => {
  const { reach, columns } = query;
  const isAsked = Object.values(columns).some((values) => values !== null && values !== undefined);
  const isInIndex = reach.merchantId === null ? isByColumnsOfAll : isAsked;
  return isInIndex && !keyOf(query) ? Object.entries(table.filters) : [];
};

/** What the index of one merchant's rows has before their time. */
const everyBy = ['shop', 'mode'] as const;

/** The value whose own index is read; null: the list's index. */
const keyOf = ({ reach, rows }: ListQuery): RowFilter | null =>
  reach.merchantId === null ? null : (rows.find(({ indexedBy }) => indexedBy) ?? null);

const isBy = ({ by = everyBy }: ListedTable, what: 'shop' | 'mode', query: ListQuery): boolean =>
  (keyOf(query)?.indexedBy ?? by).includes(what) &&
  (what === 'mode' || query.reach.merchantId !== null);

/** How many ranges of the index a query reads. */
export const armsOf = (listed: ListedTable, query: ListQuery): number => {
  const { reach } = query;
  const sizes = [
    ...(isBy(listed, 'shop', query) ? [reach.shopIds.length] : []),
    ...(isBy(listed, 'mode', query) ? [reach.modes.length] : []),
    ...armColumns(listed, query).map(([column, all]) => new Set(query.columns[column] ?? all).size),
  ];
  return sizes.reduce((product, size) => product * size, 1);
};

/** What the list's own index has, and the one of the value does not. */
const reachOf = (listed: ListedTable, query: ListQuery, parameters: Parameters): string[] => {
  const { table, by = everyBy } = listed;
  const { shopIds, modes } = query.reach;
  const isMissing = (what: 'shop' | 'mode') => by.includes(what) && !isBy(listed, what, query);
  return [
    ...(isMissing('shop')
      ? [`${table.name}.shop_id = any (${parameters.add(shopIds)}::uuid[])`]
      : []),
    ...(isMissing('mode') ? [`${table.name}.mode = any (${parameters.add(modes)}::text[])`] : []),
  ];
};

/** Conditions that no range of the index has. */
const restOf = (listed: ListedTable, query: ListQuery, parameters: Parameters): string[] => {
  const { table } = listed;
  const isInArms = armColumns(listed, query).length > 0;
  const byColumn = Object.entries(isInArms ? {} : query.columns).flatMap(([column, values]) =>
    values ? [`${table.name}.${column} = any (${parameters.add(values)}::text[])`] : [],
  );
  const { merchantId } = query.reach;
  const merchant = (): string | null =>
    merchantId === null ? null : `${parameters.add(merchantId)}::uuid`;
  const key = keyOf(query);
  const others = query.rows.filter((row) => row !== key);
  return [
    ...byColumn,
    ...(key ? reachOf(listed, query, parameters) : []),
    ...others.map(({ sql, value }) => sql(parameters.add(value), merchant)),
  ];
};

/**
 * SQL: the moments that a page reads. It has one end to read from: given another, PostgreSQL walks
 * from the outer to the inner. A cursor lies within the span, which it is bound to.
 */
export const withinSpan = (
  { name }: Pick<ListTable, 'name'>,
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

interface PageToRead {
  readonly range: PageRange;
  /** How many rows of each range are looked at. */
  readonly walk: number;
  /** Whether the list covers all merchants of sharded tables. */
  readonly isOverShards: boolean;
}

/**
 * SQL of the rows to check: the ranges they come from, and the condition in each. Over all merchants
 * of sharded tables they are one range.
 */
const looked = (
  listed: ListedTable,
  query: ListQuery,
  { range, isOverShards }: { readonly range: PageRange | null; readonly isOverShards: boolean },
  parameters: Parameters,
) => {
  const { table, ofAll } = listed;
  const { merchantId, shopIds, modes } = query.reach;
  const from = ['(values (true)) as one(holds)'];
  const where = isOverShards ? [] : ['one.holds'];
  const among = (column: string, type: string, values: readonly string[]): void => {
    const parameter = `${parameters.add(values)}::${type}[]`;
    if (isOverShards) return void where.push(`${table.name}.${column} = any (${parameter})`);
    from.push(`unnest(${parameter}) as wanted_${column}(value)`);
    where.push(`${table.name}.${column} = wanted_${column}.value`);
  };
  const always = merchantId === null ? (ofAll ?? table.always) : table.always;
  if (always !== undefined) where.push(always);
  if (merchantId !== null)
    where.push(`${table.name}.merchant_id = ${parameters.add(merchantId)}::uuid`);
  if (isBy(listed, 'shop', query)) among('shop_id', 'uuid', shopIds);
  if (isBy(listed, 'mode', query)) among('mode', 'text', modes);
  for (const [column, all] of armColumns(listed, query))
    among(column, 'text', [...new Set(query.columns[column] ?? all)]);
  const key = keyOf(query);
  if (key)
    where.push(key.sql(parameters.add(key.value), () => `${parameters.add(merchantId)}::uuid`));
  where.push(...withinSpan(table, query.span, range, parameters));
  return { from: from.join(' cross join '), within: where.join(' and ') || 'true' };
};

/** Whether a page looks for what no index helps with. */
export const hasRest = (listed: ListedTable, query: ListQuery): boolean =>
  restOf(listed, query, new Parameters()).length > 0;

const inOrderOf = (name: string, order: 'asc' | 'desc'): string =>
  `order by ${name}.created_at ${order}, ${name}.id ${order}`;
const orderOf = ({ backwards }: PageRange) => (backwards ? 'asc' : 'desc');

/**
 * The rows of a page, one more than requested when there are others. `edge`, where tables are
 * spread: where the search ends.
 */
export const pageText = (
  listed: ListedTable,
  query: ListQuery,
  { range, walk, isOverShards }: PageToRead,
  edge?: Position,
): ListText => {
  const { name } = listed.table;
  const parameters = new Parameters();
  const { from, within } = looked(listed, query, { range, isOverShards }, parameters);
  const rest = restOf(listed, query, parameters);
  const order = orderOf(range);
  const size = `limit ${parameters.add(range.size + 1)}::int`;
  const inOrder = inOrderOf(name, order);
  if (isOverShards) {
    const all = [within, ...rest];
    if (edge)
      all.push(
        `(${name}.created_at, ${name}.id) ${range.backwards ? '<=' : '>='} (${parameters.add(edge.createdAt)}::timestamptz, ${parameters.add(edge.id)}::uuid)`,
      );
    const text = `select ${listed.columns} from ${name} where ${all.join(' and ')} ${inOrder} ${size}`;
    return { text, values: parameters.values };
  }
  const walked =
    rest.length === 0
      ? `${name} where ${within}`
      : `(select * from ${name} where ${within} ${inOrder} limit ${parameters.add(walk)}::int) ${name} where ${rest.join(' and ')}`;
  const text = `select page.* from ${from} cross join lateral (select ${listed.columns} from ${walked} ${inOrder} ${size}) page
    order by page."createdAt" ${order}, page.id ${order} ${size}`;
  return { text, values: parameters.values };
};

/** Where the first range ends that a page does not search fully; no row: it searches all. */
export const edgeText = (
  listed: ListedTable,
  query: ListQuery,
  { range, walk, isOverShards }: PageToRead,
): ListText => {
  const { name } = listed.table;
  const parameters = new Parameters();
  const { from, within } = looked(listed, query, { range, isOverShards }, parameters);
  const order = orderOf(range);
  const last = `select ${name}.created_at as "createdAt", ${name}.id from ${name}
      where ${within} ${inOrderOf(name, order)} offset ${parameters.add(walk - 1)}::int limit 1`;
  const text = isOverShards
    ? last
    : `select edge.* from ${from} cross join lateral (${last}) edge
    order by edge."createdAt" ${order}, edge.id ${order} limit 1`;
  return { text, values: parameters.values };
};

/** How many of the rows that are looked at fit, and how many were looked at. */
export const totalText = (
  listed: ListedTable,
  query: ListQuery,
  walk: number,
  isOverShards: boolean,
): ListText => {
  const { name } = listed.table;
  const parameters = new Parameters();
  const { from, within } = looked(listed, query, { range: null, isOverShards }, parameters);
  const rest = restOf(listed, query, parameters);
  const fits = `select ${rest.length === 0 ? 'true' : rest.join(' and ')} as fits`;
  const most = `limit ${parameters.add(walk)}::int`;
  const rows = `from ${name} where ${within} ${inOrderOf(name, 'desc')} ${most}`;
  const text = `select count(*) filter (where seen.fits)::int as count, count(*)::int as looked from (
      ${isOverShards ? `${fits} ${rows}` : `${fits} from ${from} cross join lateral (select * ${rows}) ${name} ${most}`}) seen`;
  return { text, values: parameters.values };
};
