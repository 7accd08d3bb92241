/**
 * Keyset pages. Decision D-13: a cursor is opaque, bound to the query's filters; a foreign or
 * damaged one is refused; pages never repeat or skip a row that existed when the first page was
 * read. Decision D-12: `from` and `to` are UTC days, both inclusive.
 */
import { createHash } from 'node:crypto';
import { refused, type Refused } from '../rules/refusal.ts';
import { isCanonicalUuid } from '../rules/uuid.ts';

/** Where a page ended: rows are ordered by creation and id, newest first. */
export interface Position {
  readonly createdAt: Temporal.Instant;
  readonly id: string;
}

export const page_max_rows = 200;

const digestOf = (filters: unknown): string =>
  createHash('sha256').update(JSON.stringify(filters)).digest('base64url').slice(0, 12);

/** The cursor behind a row. */
export const cursorOf = (row: Position, filters: unknown): string =>
  Buffer.from(
    JSON.stringify([row.createdAt.epochMilliseconds, row.id, digestOf(filters)]),
  ).toString('base64url');

/** Beyond four-digit years a moment is written in a way that the database does not read. */
const readable = {
  from: Date.parse('0001-01-01T00:00:00Z'),
  to: Date.parse('9999-12-31T23:59:59.999Z'),
};

/**
 * Null when the bytes are not those of a cursor: decoding alone would pass over characters that
 * were added.
 */
const parse = (cursor: string): unknown => {
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.toString('base64url') !== cursor) return null;
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return null;
  }
};

/**
 * Reads a cursor; null without one; `bad_request` when it is damaged or belongs to other filters.
 */
export const positionOf = (
  cursor: string | null | undefined,
  filters: unknown,
): Position | Refused | null => {
  if (cursor === null || cursor === undefined) return null;
  const value = parse(cursor);
  if (Array.isArray(value) && value.length === 3) {
    const parts: readonly unknown[] = value;
    const [at, id, digest] = parts;
    if (
      typeof at === 'number' &&
      Number.isSafeInteger(at) &&
      at >= readable.from &&
      at <= readable.to &&
      typeof id === 'string' &&
      isCanonicalUuid(id) &&
      digest === digestOf(filters)
    ) {
      return { createdAt: Temporal.Instant.fromEpochMilliseconds(at), id };
    }
  }
  return refused('bad_request', 'cursor: expected the next_cursor of a page of this same query');
};

/**
 * A page of rows with what the next page needs. `rows` holds one more than asked for when there is
 * a next page.
 */
export const pageOf = <Row extends Position>(
  rows: readonly Row[],
  first: number,
  filters: unknown,
): { nodes: Row[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } } => {
  const nodes = rows.slice(0, first);
  const last = nodes.at(-1);
  const hasNextPage = rows.length > first;
  return {
    nodes,
    pageInfo: { hasNextPage, endCursor: hasNextPage && last ? cursorOf(last, filters) : null },
  };
};

/** The last day that can be written: whoever means "without an end" sends it. */
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
): Span | Refused => {
  const first = from ? day(from) : null;
  const last = to ? day(to) : null;
  if (from && !first)
    return refused('bad_request', `from: expected a day as YYYY-MM-DD, got ${from}`);
  if (to && !last) return refused('bad_request', `to: expected a day as YYYY-MM-DD, got ${to}`);
  if (first && last && Temporal.PlainDate.compare(first, last) > 0)
    return refused('bad_request', 'from: expected a day that is not after to');
  const start = (date: Temporal.PlainDate): Temporal.Instant =>
    date.toZonedDateTime('UTC').toInstant();
  return {
    since: first && start(first),
    until: last && to !== lastDay ? start(last.add({ days: 1 })) : null,
  };
};

/** Checks a page size; `bad_request` outside 1 to `limit`. */
export const pageSize = (first: number, limit = page_max_rows): number | Refused =>
  first >= 1 && first <= limit
    ? first
    : refused('bad_request', `limit: expected an integer from 1 to ${limit}, got ${first}`);
