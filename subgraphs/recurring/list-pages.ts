/**
 * The merchant's lists of tokens and subscriptions, in pages by keyset, or as a whole while they
 * are short.
 */
import {
  pagedList,
  type Page,
  type PagedList,
  type PageQuery,
} from '../platform/database/keyset.ts';
import { isRefusal, refuse, type Refusal } from '../rules/refusal.ts';

/** Rows of a page at most. The REST API reads its whole lists in such pages. */
export const recurringPage_max = 500;
/** Rows of a list that is answered as a whole. */
const wholeList_max = 10_000;

/**
 * A list for `readPage`: `$4` is the merchant, `$5` the modes, `$6` the
 * value of `filter` when there is one. One range of the table's index for each mode, merged: over
 * an array of modes PostgreSQL would sort the whole list for each page.
 */
export const listOfModes = (
  name: string,
  table: string,
  columns: string,
  filter?: string,
): PagedList =>
  pagedList(
    `recurring.page_${name}`,
    ({
      behind,
      inOrder,
    }) => `select page.* from unnest($5::text[]) as wanted(mode) cross join lateral (
      select ${columns} from ${table}
      where merchant_id = $4 and mode = wanted.mode ${filter ? `and ${filter} = $6` : ''} and ${behind('created_at', 'id')}
      ${inOrder('created_at', 'id')}) page
    ${inOrder('page."createdAt"', 'page.id')}`,
  );

/**
 * All rows of a list, page by page; `bad_request`, naming the field to use instead, when there are
 * too many for one answer.
 */
export const wholeList = async <Row>(
  field: string,
  read: (page: PageQuery) => Promise<Page<Row> | Refusal>,
): Promise<Row[] | Refusal> => {
  const rows: Row[] = [];
  let after: string | null = null;
  do {
    const page: Page<Row> | Refusal = await read({ first: recurringPage_max, after });
    if (isRefusal(page)) return page;
    rows.push(...page.nodes);
    after = page.pageInfo.endCursor;
    if (after !== null && rows.length >= wholeList_max) {
      return refuse(
        'bad_request',
        `${field}: there are more than ${wholeList_max}; use ${field}Connection`,
      );
    }
  } while (after !== null);
  return rows;
};
