/**
 * Pages of growing lists, newest first, by keyset: for lists that are not a shop's registry. One
 * statement per list and direction.
 */
import { isRefusal, type Refusal } from '../../rules/refusal.ts';
import { pageOf, pageRange, type Page, type PageQuery, type Position } from './keyset.ts';
import { run, type Runner, type Statement } from './statement.ts';

export type { Page, PageQuery } from './keyset.ts';

/** SQL of one direction. `$1` to `$3` are the page's parameters; those of the statement follow. */
interface PageText {
  /** The rows of a page by their columns for moment and id. */
  readonly behind: (at: string, id: string) => string;
  /** Their order in this direction, and how many they are. */
  readonly inOrder: (at: string, id: string) => string;
}

const forwards: PageText = {
  behind: (at, id) =>
    `(${at}, ${id}) < (coalesce($1::timestamptz, 'infinity'), coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))`,
  inOrder: (at, id) => `order by ${at} desc, ${id} desc limit $3`,
};
const backwards: PageText = {
  behind: (at, id) =>
    `(${at}, ${id}) > (coalesce($1::timestamptz, '-infinity'), coalesce($2::uuid, '00000000-0000-0000-0000-000000000000'))`,
  inOrder: (at, id) => `order by ${at}, ${id} limit $3`,
};

export interface PagedList {
  readonly forwards: Statement;
  readonly backwards: Statement;
}

/** The statements of a list; they return the columns `createdAt` and `id`. */
export const pagedList = (name: string, textOf: (page: PageText) => string): PagedList => ({
  forwards: { name, text: textOf(forwards) },
  backwards: { name: `${name}_backwards`, text: textOf(backwards) },
});

/**
 * One page of a list; `values` are its statements' parameters from `$4` on, and a cursor belongs to
 * them. `bad_request` for a size outside 1 to `limit`, or a wrong cursor.
 */
export const readPage = async <Row extends Position>(
  runner: Runner,
  list: PagedList,
  values: readonly unknown[],
  query: PageQuery,
  limit?: number,
): Promise<Page<Row> | Refusal> => {
  const range = pageRange(query, [list.forwards.name, values], limit);
  if (isRefusal(range)) return range;
  const { position, size } = range;
  const cursor = [position?.createdAt ?? null, position?.id ?? null];
  const statement = range.backwards ? list.backwards : list.forwards;
  return pageOf(await run<Row>(runner, statement, [...cursor, size + 1, ...values]), range);
};
