/**
 * Searching payouts, for operators and cabinet users. An id is found at once, over all merchants,
 * too; everything else walks the registry's index over at most 31 days. Newest first, by keyset
 * (decision D-13).
 */
import { isUuid } from '../kernel/rules/uuid.ts';
import { spanOf } from '../kernel/database/keyset.ts';
import { pagedList, readPage, type Page, type PageQuery } from '../kernel/database/page.ts';
import type { Reach } from '../kernel/database/reach.ts';
import { columns, type Runner } from '../kernel/database/statement.ts';
import { isRefused, refused, type Refused } from '../kernel/rules/refusal.ts';
import type { Payout } from './entities.ts';
import { payoutNames } from './find-payouts.ts';
import type { PayoutStatus } from './rules/payout.ts';

/** What is searched for; null or absent: anything. */
export interface PayoutSearch {
  readonly id?: string | null | undefined;
  readonly bankRef?: string | null | undefined;
  readonly phone?: string | null | undefined;
  readonly accountNumber?: string | null | undefined;
  /** The card's last 4 digits. */
  readonly cardMask?: string | null | undefined;
  readonly amount?: bigint | null | undefined;
  readonly status?: readonly PayoutStatus[] | null | undefined;
  /** UTC days, inclusive (decision D-12). */
  readonly from?: string | null | undefined;
  readonly to?: string | null | undefined;
}

/** How many days a search may walk through. */
const searchSpan_days = 31;

const found = columns(payoutNames, 'payout');

// The primary key begins with the merchant: an id is looked up under each, which spares an index
// over random ids.
const byId = pagedList(
  'payout.search_id',
  ({
    behind,
    inOrder,
  }) => `select ${found} from merchant cross join lateral (select * from payout where payout.merchant_id = merchant.id and payout.id = $4) payout
    where ${behind('payout.created_at', 'payout.id')} and ($5::uuid is null or merchant.id = $5) and ($6::uuid[] is null or payout.shop_id = any ($6))
      and ($7::text[] is null or payout.mode = any ($7)) ${inOrder('payout.created_at', 'payout.id')}`,
);

const byDays = pagedList(
  'payout.search_days',
  ({
    behind,
    inOrder,
  }) => `select page.* from unnest($5::uuid[]) as s(shop_id) cross join unnest($6::text[]) as m(mode) cross join lateral (
      select ${found} from payout where payout.merchant_id = $4 and payout.shop_id = s.shop_id and payout.mode = m.mode
        and payout.created_at >= $7::timestamptz and payout.created_at < $8::timestamptz and ${behind('payout.created_at', 'payout.id')}
        and ($9::text is null or payout.bank_ref = $9) and ($10::text is null or payout.recipient_phone = $10)
        and ($11::text is null or payout.recipient_account = $11) and ($12::text is null or payout.recipient_card_mask = $12)
        and ($13::int8 is null or payout.amount = $13) and ($14::text[] is null or payout.status = any ($14))
      ${inOrder('payout.created_at', 'payout.id')}) page ${inOrder('page."createdAt"', 'page.id')}`,
);

/**
 * A page of what is found within the caller's reach; `reach` null: all merchants, by id alone.
 * Refuses a malformed search with `bad_request`.
 */
export const searchPayouts = async (
  runner: Runner,
  reach: Reach | null,
  search: PayoutSearch,
  page: PageQuery,
): Promise<Page<Payout> | Refused> => {
  const {
    id,
    bankRef = null,
    phone = null,
    accountNumber = null,
    cardMask = null,
    amount = null,
    status = null,
  } = search;
  if (id) {
    if (!isUuid(id)) return refused('bad_request', 'search.id: expected a UUID');
    return readPage(
      runner,
      byId,
      [id, reach?.merchantId ?? null, reach?.shopIds ?? null, reach?.modes ?? null],
      page,
    );
  }
  if (!reach)
    return refused('bad_request', 'merchantId: only an id is searched for over all merchants');
  const span = spanOf(search.from, search.to);
  if (isRefused(span)) return span;
  const { since, until } = span;
  if (!since || !until || since.until(until).total('hours') > searchSpan_days * 24) {
    return refused(
      'bad_request',
      `search: name an id, or the days with from and to, at most ${searchSpan_days} days apart`,
    );
  }
  const criteria = [bankRef, phone, accountNumber, cardMask, amount?.toString() ?? null, status];
  return readPage(
    runner,
    byDays,
    [reach.merchantId, reach.shopIds, reach.modes, since, until, ...criteria],
    page,
  );
};
