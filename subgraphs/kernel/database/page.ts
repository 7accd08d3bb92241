/**
 * Pages of whatever grows, newest first, by keyset (decision D-13): for lists that are not a shop's
 * registry. One statement per list; its first three parameters are the page's.
 */
import { isRefused, type Refused } from '../rules/refusal.ts';
import { page_max_rows, pageOf, pageSize, positionOf, type Position } from './keyset.ts';
import { run, type Runner, type Statement } from './statement.ts';

/** What a caller asks for: so many rows behind a cursor. */
export interface PageQuery {
  readonly first: number;
  readonly after?: string | null | undefined;
}

export interface Page<Row> {
  readonly nodes: Row[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/**
 * SQL: the rows of a page by their columns for moment and id. The statement's parameters `$1` to
 * `$3` are the page's, its own begin with `$4`.
 */
export const behindCursor = (at: string, id: string): string =>
  `(${at}, ${id}) < (coalesce($1::timestamptz, 'infinity'), coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))`;

/** SQL: the order and the size that go with `behindCursor`. */
export const newestFirst = (at: string, id: string): string =>
  `order by ${at} desc, ${id} desc limit $3`;

/**
 * One page of `statement`, which is made with `behindCursor` and `newestFirst` and gives the
 * columns `createdAt` and `id`; `values` are its parameters from `$4` on, and a cursor belongs to
 * them. `bad_request` for a size outside 1 to `limit`, or a wrong cursor.
 */
export const readPage = async <Row extends Position>(
  runner: Runner,
  statement: Statement,
  values: readonly unknown[],
  { first, after }: PageQuery,
  limit = page_max_rows,
): Promise<Page<Row> | Refused> => {
  const bound = [statement.name, values];
  const size = pageSize(first, limit);
  const position = positionOf(after, bound);
  if (typeof size !== 'number') return size;
  if (position && isRefused(position)) return position;
  const rows = await run<Row>(runner, statement, [
    position?.createdAt ?? null,
    position?.id ?? null,
    size + 1,
    ...values,
  ]);
  return pageOf(rows, size, bound);
};
