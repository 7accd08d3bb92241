/**
 * Pages of whatever grows, newest first, by keyset (decision D-13): for lists that are not a shop's
 * registry. One statement per list; its first three parameters are the page's.
 */
import { isRefused, type Refused } from '../rules/refusal.ts';
import { pageOf, pageRange, type Page, type PageQuery, type Position } from './keyset.ts';
import { run, type Runner, type Statement } from './statement.ts';

export type { Page, PageQuery } from './keyset.ts';

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
  query: PageQuery,
  limit?: number,
): Promise<Page<Row> | Refused> => {
  const range = pageRange(query, [statement.name, values], limit);
  if (isRefused(range)) return range;
  const { position, size } = range;
  const rows = await run<Row>(runner, statement, [
    position?.createdAt ?? null,
    position?.id ?? null,
    size + 1,
    ...values,
  ]);
  return pageOf(rows, range);
};
