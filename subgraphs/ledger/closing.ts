/**
 * The closing of a span: what each shop of a merchant had at its beginning and at its end, and what
 * each type of posting moved meanwhile. It is read from the hours of the ledger backwards from
 * today's balance, and from the postings of the two hours in which the span begins and ends: its
 * cost follows the time since the span began, not the number of postings.
 */
import { run, type Runner, type Statement } from '../platform/database/statement.ts';
import type { Mode } from '../rules/mode.ts';
import type { PostingType } from '../rules/postings.ts';
import type { ShopBalanceRow } from './balance.ts';

/** SQL: a part of the merchant's hours, and of the deltas that are not folded into them yet. */
const hours = (within: string): string => `select shop_id, account, type, amount from ledger_hour
      where merchant_id = $1 and mode = $2 and currency = $3 and ${within}
    union all select shop_id, account, part.type, part.amount::numeric
      from balance_delta cross join jsonb_each_text(moved) as part (type, amount)
      where merchant_id = $1 and mode = $2 and currency = $3 and ${within}`;

/** SQL: the postings of an hour before a moment in it. */
const edge = (
  moment: string,
): string => `select entry.shop_id, side.account, entry.type, side.amount
    from shop cross join lateral (select * from posting where posting.merchant_id = $1 and posting.shop_id = shop.id and posting.mode = $2
        and posting.currency = $3 and posting.created_at >= date_trunc('hour', ${moment}, 'UTC') and posting.created_at < ${moment}) as entry
      cross join lateral (values (entry.to_account, entry.amount), (entry.from_account, -entry.amount)) as side (account, amount)
    where shop.merchant_id = $1 and side.account in ('merchant', 'merchant_reserved')`;

const [from, to] = ['$4::timestamptz', '$5::timestamptz'];
const [fromHour, toHour] = [from, to].map((moment) => `date_trunc('hour', ${moment}, 'UTC')`);

// `within` is what moved in the span, `behind` what moved after it.
const closing: Statement = {
  name: 'ledger.closing',
  text: `with moved as (
      select shop_id, account, type, amount as within, 0 as behind from (${hours(`hour >= ${fromHour} and hour < ${toHour}`)}) as whole
      union all select shop_id, account, type, 0, amount from (${hours(`hour >= ${toHour}`)}) as later
      union all select shop_id, account, type, -amount, 0 from (${edge(from)}) as before
      union all select shop_id, account, type, amount, -amount from (${edge(to)}) as last),
    kept as (select shop_id, account, '' as type, 0 as within, 0 as behind, amount from balance where merchant_id = $1 and mode = $2 and currency = $3
      union all select shop_id, account, '', 0, 0, amount from balance_delta where merchant_id = $1 and mode = $2 and currency = $3
      union all select *, 0 from moved)
    select shop.id as "shopId", shop.name as "shopName", kept.account, kept.type, sum(kept.within)::text as within,
      sum(kept.behind)::text as behind, sum(kept.amount)::text as kept
    from shop left join kept on kept.shop_id = shop.id
    where shop.merchant_id = $1 group by shop.id, shop.name, shop.created_at, kept.account, kept.type order by shop.created_at, shop.id`,
};

interface FoundRow {
  readonly shopId: string;
  readonly shopName: string;
  /** The next ones are null for a shop that nothing was ever booked for. */
  readonly account: 'merchant' | 'merchant_reserved' | null;
  /** Empty: of the balance as it is now. */
  readonly type: PostingType | '' | null;
  readonly within: string | null;
  readonly behind: string | null;
  readonly kept: string | null;
}

/** A shop's part of a closing. */
export interface ShopClosing {
  readonly shopId: string;
  readonly shopName: string;
  readonly opening: bigint;
  /** What each type of posting added to what the merchant owns: signed. */
  readonly moved: ReadonlyMap<PostingType, bigint>;
  readonly closing: bigint;
  /** Of the closing balance: what was not reserved. */
  readonly closingAvailable: bigint;
}

/** The span: from a moment until before another one. */
export interface ClosingSpan {
  readonly merchantId: string;
  readonly mode: Mode;
  readonly currency: string;
  readonly from: Temporal.Instant;
  readonly to: Temporal.Instant;
}

const shopClosing = (rows: readonly FoundRow[], first: FoundRow): ShopClosing => {
  const moved = new Map<PostingType, bigint>();
  let [opening, closed, available] = [0n, 0n, 0n];
  for (const { account, type, within, behind, kept } of rows) {
    const change = BigInt(within ?? 0);
    const atEnd = BigInt(kept ?? 0) - BigInt(behind ?? 0);
    closed += atEnd;
    opening += atEnd - change;
    if (account === 'merchant') available += atEnd;
    if (type) moved.set(type, (moved.get(type) ?? 0n) + change);
  }
  const { shopId, shopName } = first;
  return { shopId, shopName, opening, moved, closing: closed, closingAvailable: available };
};

/** The closing of each shop of a merchant, oldest shop first, in one snapshot. */
export const readClosing = async (
  runner: Runner,
  { merchantId, mode, currency, from: since, to: until }: ClosingSpan,
): Promise<ShopClosing[]> => {
  const found = await run<FoundRow>(runner, closing, [merchantId, mode, currency, since, until]);
  return [...Map.groupBy(found, ({ shopId }) => shopId).values()].flatMap((rows) =>
    rows[0] ? [shopClosing(rows, rows[0])] : [],
  );
};

/** The last moment that a caller can name; there is none after it in a span. */
const last_ms = Date.parse('9999-12-31T23:59:59.999Z');

/** The balance of each shop as of a moment, including all postings of that very millisecond. */
export const readBalancesAt = async (
  runner: Runner,
  merchantId: string,
  mode: Mode,
  currency: string,
  at: Temporal.Instant,
): Promise<ShopBalanceRow[]> => {
  const end = Temporal.Instant.fromEpochMilliseconds(Math.min(at.epochMilliseconds + 1, last_ms));
  const span = { merchantId, mode, currency, from: end, to: end };
  return (await readClosing(runner, span)).map(
    ({ shopId, shopName, closing: balance, closingAvailable: available }) => ({
      shopId,
      shopName,
      balance,
      available,
    }),
  );
};
