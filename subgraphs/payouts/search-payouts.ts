/**
 * Searches payouts for operators and cabinet users. An id is found directly, also over all
 * merchants; other searches filter a list of at most 31 days and read as many rows as it has.
 * Newest first, by keyset.
 */
import { isUuid } from '../rules/ids.ts';
import { readSearch } from '../platform/database/lists.ts';
import {
  spanOf,
  type Span,
  pageOf,
  pageRange,
  type Page,
  type PageQuery,
} from '../platform/database/keyset.ts';
import type { RowFilter } from '../platform/database/list-statements.ts';
import type { Reach } from '../platform/database/reach.ts';
import { columns, run, type Runner, type Statement } from '../platform/database/statement.ts';
import { isRefusal, refuse, type Refusal } from '../rules/refusal.ts';
import type { Payout } from './entities.ts';
import { payoutNames, payoutTable } from './find-payouts.ts';
import type { PayoutSearchInput } from '../../schema/generated/payouts.ts';

/** The days that a search covers at most. */
const searchSpan_days = 31;

const found = columns(payoutNames, 'payout');

// The primary key begins with the merchant, so an id is looked up under each; this spares an index
// over random ids.
const byId: Statement = {
  name: 'payout.search_id',
  text: `select ${found} from merchant cross join lateral (select * from payout where payout.merchant_id = merchant.id and payout.id = $1) payout
    where ($2::uuid is null or merchant.id = $2) and ($3::uuid[] is null or payout.shop_id = any ($3)) and ($4::text[] is null or payout.mode = any ($4))
    order by payout.created_at desc`,
};

/** The payouts with an id: hardly more than one. */
const withId = async (
  runner: Runner,
  reach: Reach | null,
  id: string,
  page: PageQuery,
): Promise<Page<Payout> | Refusal> => {
  const { merchantId = null, shopIds = null, modes = null } = reach ?? {};
  const values = [id, merchantId, shopIds, modes];
  const range = pageRange(page, [byId.name, values]);
  if (isRefusal(range)) return range;
  const { position, backwards } = range;
  const rows = await run<Payout>(runner, byId, values);
  const side = backwards ? 1 : -1;
  const behind = rows.filter(
    ({ createdAt }) =>
      !position || Temporal.Instant.compare(createdAt, position.createdAt) === side,
  );
  return pageOf(backwards ? behind.toReversed() : behind, range);
};

/** The registry's criteria over days: in bounded steps where no index helps. */
const inDays = (
  runner: Runner,
  reach: Reach,
  search: PayoutSearchInput,
  { span, page }: { readonly span: Span; readonly page: PageQuery },
): Promise<Page<Payout> | Refusal> => {
  const { bankRef, phone, accountNumber, cardMask, amount, status } = search;
  const text = (column: string, value: string | null | undefined): RowFilter => ({
    sql: (parameter) => `payout.${column} = ${parameter}::text`,
    value,
  });
  const rows: readonly RowFilter[] = [
    text('bank_ref', bankRef),
    text('recipient_phone', phone),
    text('recipient_account', accountNumber),
    text('recipient_card_mask', cardMask),
    { sql: (parameter) => `payout.amount = ${parameter}::int8`, value: amount },
  ];
  const asked = [bankRef, phone, accountNumber, cardMask, amount?.toString(), status];
  return readSearch<Payout>(
    runner,
    { table: payoutTable, columns: columns(payoutNames) },
    {
      page,
      reach,
      span,
      columns: { status },
      rows,
      asked: ['search', span, ...asked.map((part) => part ?? null)],
    },
  );
};

/**
 * A page of results within the caller's reach; `reach` null: all merchants, by id only. Refuses a
 * malformed search with `bad_request`.
 */
export const searchPayouts = async (
  runner: Runner,
  reach: Reach | null,
  search: PayoutSearchInput,
  page: PageQuery,
): Promise<Page<Payout> | Refusal> => {
  const { id } = search;
  if (id) {
    if (!isUuid(id)) return refuse('bad_request', 'search.id: expected a UUID');
    return withId(runner, reach, id, page);
  }
  if (!reach) return refuse('bad_request', 'merchantId: required, except for a search by id');
  const span = spanOf(search.from, search.to);
  if (isRefusal(span)) return span;
  const { since, until } = span;
  if (!since || !until || since.until(until).total('hours') > searchSpan_days * 24) {
    return refuse(
      'bad_request',
      `search: expected an id, or the days from and to, at most ${searchSpan_days} days apart`,
    );
  }
  return inDays(runner, reach, search, { span, page });
};
