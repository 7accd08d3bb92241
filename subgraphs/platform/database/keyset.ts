/**
 * Keyset pages. A cursor is opaque, bound to the query's filters; a foreign or damaged one is
 * refused; pages never repeat or skip a row that existed when the first page was read. `from` and
 * `to` are UTC days, both inclusive.
 */
import { createHash } from 'node:crypto';
import { type EntityName, type FilterQuery, type QueryOrderMap, Utils } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import * as v from 'valibot';
import { isCanonicalUuid } from '../../rules/ids.ts';
import { isRefusal, refuse, type Refusal, asCame } from '../../rules/refusal.ts';

/** Where a page ended: rows are ordered by creation and id, newest first. */
export interface Position {
  readonly createdAt: Temporal.Instant;
  readonly id: string;
}

/** What a caller requests: the `first` rows after `after`, or the `last` rows before `before`. */
export interface PageQuery {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

export interface Page<Row> {
  readonly nodes: Row[];
  /** The same rows, each with its cursor, as Relay reads them. */
  readonly edges: { readonly cursor: string; readonly node: Row }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly endCursor: string | null;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
  };
}

/** A checked query. */
export interface PageRange {
  readonly size: number;
  readonly backwards: boolean;
  /** The cursor's. */
  readonly position: Position | null;
  /** What a cursor of this query belongs to. */
  readonly bound: unknown;
}

const page_max_rows = 200;
/** The size of a page when the caller names none. */
const page_default_rows = 50;

/** Covers the position, too: a cursor with one changed character is invalid. */
const digestAt = (at_ms: number, id: string, filters: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify([at_ms, id, filters]))
    .digest('base64url')
    .slice(0, 12);

/** The cursor behind a row. */
export const cursorOf = (row: Position, filters: unknown): string => {
  const at_ms = row.createdAt.epochMilliseconds;
  const parts = [at_ms, row.id, digestAt(at_ms, row.id, filters)];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
};

/** Beyond four-digit years a moment is written in a way that the database does not read. */
const readable = {
  from: Date.parse('0001-01-01T00:00:00Z'),
  to: Date.parse('9999-12-31T23:59:59.999Z'),
};

/**
 * The first moment from this one on that a row can have: rows have millisecond precision and years
 * of four digits.
 */
export const recordable = (at: Temporal.Instant): Temporal.Instant => {
  const { epochMilliseconds } = at.round({ smallestUnit: 'millisecond', roundingMode: 'ceil' });
  const within = Math.min(Math.max(epochMilliseconds, readable.from), readable.to);
  return Temporal.Instant.fromEpochMilliseconds(within);
};

/** What `cursorOf` writes: the time, the id and the digest. */
const cursorParts = v.pipe(
  v.string(),
  v.parseJson(),
  v.strictTuple([
    v.pipe(v.number(), v.integer(), v.minValue(readable.from), v.maxValue(readable.to)),
    v.pipe(v.string(), v.check(isCanonicalUuid)),
    v.string(),
  ]),
);

/**
 * Reads a cursor; null without one; `bad_request` when it is damaged or belongs to other filters.
 */
export const positionOf = (
  cursor: string | null | undefined,
  filters: unknown,
): Position | Refusal | null => {
  if (cursor === null || cursor === undefined) return null;
  const bytes = Buffer.from(cursor, 'base64url');
  const { success, output } = v.safeParse(cursorParts, bytes.toString());
  // Decoding alone would ignore added characters.
  if (success && bytes.toString('base64url') === cursor) {
    const [at_ms, id, digest] = output;
    if (digest === digestAt(at_ms, id, filters))
      return { createdAt: Temporal.Instant.fromEpochMilliseconds(at_ms), id };
  }
  return refuse(
    'bad_request',
    `cursor: expected the next_cursor of a page of this same query, got ${asCame(cursor)}`,
  );
};

/**
 * Checks a query; `bad_request` for a size outside 1 to `limit`, a wrong cursor, or two directions.
 */
export const pageRange = (
  { first, after, last, before }: PageQuery,
  bound: unknown,
  limit = page_max_rows,
): PageRange | Refusal => {
  const forwards = (first ?? after ?? null) !== null;
  const backwards = (last ?? before ?? null) !== null;
  if (backwards && (forwards || typeof last !== 'number'))
    return refuse('bad_request', 'page: expected first and after, or last and before');
  const size = last ?? first ?? page_default_rows;
  if (size < 1 || size > limit)
    return refuse('bad_request', `limit: expected an integer from 1 to ${limit}, got ${size}`);
  const position = positionOf(before ?? after, bound);
  return position && isRefusal(position) ? position : { size, backwards, position, bound };
};

const pageInfoOf = (
  rows: readonly Position[],
  { backwards, position, bound }: PageRange,
  more: boolean,
): Page<Position>['pageInfo'] => {
  const [start, end] = [rows[0], rows.at(-1)];
  const hasNextPage = backwards ? position !== null : more;
  const hasPreviousPage = backwards ? more : position !== null;
  return {
    hasNextPage,
    endCursor: hasNextPage && end ? cursorOf(end, bound) : null,
    hasPreviousPage,
    startCursor: hasPreviousPage && start ? cursorOf(start, bound) : null,
  };
};

/**
 * A page of rows in the order of the list, each at its position; `more`: whether there are further
 * rows in the read direction. An edge makes its cursor only when it is read.
 */
const pageAt = <Row>(
  placed: readonly { readonly node: Row; readonly position: Position }[],
  range: PageRange,
  more: boolean,
): Page<Row> => ({
  nodes: placed.map(({ node }) => node),
  edges: placed.map(({ node, position }) => ({
    node,
    get cursor() {
      return cursorOf(position, range.bound);
    },
  })),
  pageInfo: pageInfoOf(
    placed.map(({ position }) => position),
    range,
    more,
  ),
});

/**
 * A page of rows in read order: backwards the oldest comes first. `rows` holds one more than
 * requested when there are further rows, and `more` says that the search stopped before the end.
 */
export const pageOf = <Row extends Position>(
  rows: readonly Row[],
  range: PageRange,
  more = rows.length > range.size,
): Page<Row> => {
  const nodes = rows.slice(0, range.size);
  if (range.backwards) nodes.reverse();
  return pageAt(
    nodes.map((node) => ({ node, position: node })),
    range,
    more,
  );
};

/** The last day that can be written: callers that mean "without an end" send it. */
const lastDay = '9999-12-31';

/** A day that exists. */
const day = (text: string): Temporal.PlainDate | null => {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text < '0001-01-01') return null;
  try {
    return Temporal.PlainDate.from(text, { overflow: 'reject' });
  } catch {
    return null;
  }
};

/**
 * A half-open span of time: from the first day's start to the end of the last day. Null at an open
 * side.
 */
export interface Span {
  readonly since: Temporal.Instant | null;
  readonly until: Temporal.Instant | null;
}

/** Reads `from` and `to`; `bad_request` when one is not a day or they are the wrong way round. */
export const spanOf = (
  from: string | null | undefined,
  to: string | null | undefined,
): Span | Refusal => {
  const first = typeof from === 'string' ? day(from) : null;
  const last = typeof to === 'string' ? day(to) : null;
  if (typeof from === 'string' && !first)
    return refuse('bad_request', `from: expected a day as YYYY-MM-DD, got ${asCame(from)}`);
  if (typeof to === 'string' && !last)
    return refuse('bad_request', `to: expected a day as YYYY-MM-DD, got ${asCame(to)}`);
  if (first && last && Temporal.PlainDate.compare(first, last) > 0)
    return refuse(
      'bad_request',
      `from: expected a day not after to (${last.toString()}), got ${first.toString()}`,
    );
  const start = (date: Temporal.PlainDate): Temporal.Instant =>
    date.toZonedDateTime('UTC').toInstant();
  return {
    since: first && start(first),
    until: last && to !== lastDay ? start(last.add({ days: 1 })) : null,
  };
};

// Lists of entities, by the ORM's cursors; callers receive the cursors of this file.

/** An entity that a list orders by the time `At`, and by its id among those of one time. */
type Listed<At extends string> = { readonly id: string } & {
  readonly [Name in At]: Temporal.Instant;
};

interface EntityList<Entity extends object, At extends string> {
  readonly entity: EntityName<Entity>;
  /** The property that holds the time. */
  readonly at: At;
  readonly where: FilterQuery<Entity>;
  /** What a cursor is bound to; absent: the condition. */
  readonly bound?: readonly unknown[];
}

/** The filters; null or absent matches all. */
export const given = <Filters extends object>(filters: Filters) =>
  Object.fromEntries(
    Object.entries(filters).filter(([, value]) => value !== null && value !== undefined),
  ) as { [Name in keyof Filters]?: Exclude<Filters[Name], null | undefined> };

/**
 * One page of a list; `bad_request` for a size outside 1 to the limit of a page, or a wrong cursor.
 * Rows are fresh from the database, whatever the call read before.
 */
export const findPage = async <At extends string, Entity extends Listed<At>>(
  em: EntityManager,
  { entity, at, where, bound }: EntityList<Entity, At>,
  query: PageQuery,
): Promise<Page<Entity> | Refusal> => {
  const range = pageRange(query, [Utils.className(entity), bound ?? where]);
  if (isRefusal(range)) return range;
  const { size, backwards, position } = range;
  const cursor = position ? { [at]: position.createdAt, id: position.id } : undefined;
  const found = await em.findByCursor(entity, {
    where,
    orderBy: { [at]: 'desc', id: 'desc' } as QueryOrderMap<Entity>,
    [backwards ? 'last' : 'first']: size,
    ...(cursor && { [backwards ? 'before' : 'after']: cursor }),
    includeCount: false,
    disableIdentityMap: true,
  });
  const placed = (found.items as Entity[]).map((node) => ({
    node,
    position: { createdAt: node[at], id: node.id },
  }));
  return pageAt(placed, range, backwards ? found.hasPrevPage : found.hasNextPage);
};
