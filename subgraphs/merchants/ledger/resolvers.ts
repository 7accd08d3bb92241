/**
 * GraphQL resolvers for balances and the ledger: a merchant's own, and any merchant's for
 * operators, now or as of a moment.
 */
import type { LedgerEntryResolvers, QueryResolvers } from '../../../schema/generated/merchants.ts';
import type { OnDatabase } from '../../platform/database/orm.ts';
import type { RowFilter } from '../../platform/database/list-statements.ts';
import { readBalancesAt, readClosing, type ShopClosing } from '../../ledger/closing.ts';
import { readBalances, type ShopBalanceRow } from '../../ledger/balance.ts';
import type { LedgerType } from '../../rules/postings.ts';
import { isUuid } from '../../rules/ids.ts';
import { merchantOf, orThrow, refusal } from '../../platform/access/access.ts';
import { nameOfReference } from '../../platform/graph/entities.ts';
import { perCall } from '../../platform/graph/subgraph.ts';
import type { LedgerRow } from '../rows.ts';
import { pageOfLedger } from './read-ledger.ts';
import { run, type Runner, type Statement } from '../../platform/database/statement.ts';
import type { RowKey } from '../../platform/database/batch-calls.ts';

/*
 * The balance right after a movement. It is read backwards from today's balance by the hours of the
 * ledger, and within the movement's own hour by its postings, for all movements of a page at once.
 */

/** SQL: what a posting adds to what the merchant owns. */
const net = `case when entry.to_account in ('merchant', 'merchant_reserved') then entry.amount else 0 end
  - case when entry.from_account in ('merchant', 'merchant_reserved') then entry.amount else 0 end`;

/** Everything of the merchant, and everything of the shop. */
const wholes = { merchant: '', shop: ', shop_id' } as const;

/** SQL: what an hour and all later ones moved, of the merchant or of the shop. */
const since = (
  by: string,
): string => `select mode, currency, hour${by}, sum(sum(amount)) over (partition by mode, currency${by} order by hour desc) as amount
      from moved group by mode, currency, hour${by}`;

// Without `offset 0` PostgreSQL joins the hours with all postings of the table.
const after: Statement = {
  name: 'ledger.balance_after',
  text: `with row as materialized (select id, shop_id, mode, currency, date_trunc('hour', created_at, 'UTC') as hour
      from posting where merchant_id = $1 and id = any ($2::uuid[])),
    start as (select mode, currency, min(hour) as hour from row group by 1, 2),
    moved as (
      select whole.mode, whole.currency, whole.hour, whole.shop_id, whole.amount from start join ledger_hour as whole
        on whole.merchant_id = $1 and whole.mode = start.mode and whole.currency = start.currency and whole.hour >= start.hour
      union all select mode, currency, hour, shop_id, amount from balance_delta where merchant_id = $1),
    since_all as (${since(wholes.merchant)}),
    since_shop as (${since(wholes.shop)}),
    kept as (select mode, currency, shop_id, amount from balance where merchant_id = $1
      union all select mode, currency, shop_id, amount from balance_delta where merchant_id = $1),
    inside as (
      select entry.id, sum(entry.net) over (partition by place.mode, place.currency, place.hour order by entry.created_at, entry.id) as of_all,
        sum(entry.net) over (partition by place.mode, place.currency, place.hour, shop.id order by entry.created_at, entry.id) as of_shop
      from (select distinct mode, currency, hour from row) as place join shop on shop.merchant_id = $1
        cross join lateral (select entry.id, entry.created_at, ${net} as net from posting as entry
          where entry.merchant_id = $1 and entry.shop_id = shop.id and entry.mode = place.mode and entry.currency = place.currency
            and entry.created_at >= place.hour and entry.created_at < place.hour + interval '1 hour' offset 0) as entry)
    select row.id,
      ((select sum(amount) from kept where kept.mode = row.mode and kept.currency = row.currency)
        - since_all.amount + inside.of_all)::text as "ofAll",
      ((select sum(amount) from kept where kept.mode = row.mode and kept.currency = row.currency and kept.shop_id = row.shop_id)
        - since_shop.amount + inside.of_shop)::text as "ofShop"
    from row join inside on inside.id = row.id
      join since_all on since_all.mode = row.mode and since_all.currency = row.currency and since_all.hour = row.hour
      join since_shop on since_shop.mode = row.mode and since_shop.currency = row.currency and since_shop.hour = row.hour
        and since_shop.shop_id = row.shop_id`,
};

/** The balance right after a movement: of the merchant, and of the movement's shop. */
interface BalanceAfter {
  readonly ofAll: bigint;
  readonly ofShop: bigint;
}

/**
 * The balances right after these movements, in their order. Null for movements of several merchants,
 * whose balances do not follow one another.
 */
export const balancesAfter = async (
  runner: Runner,
  movements: readonly RowKey[],
): Promise<readonly (BalanceAfter | null)[]> => {
  const [merchantId, ...others] = new Set(movements.map((movement) => movement.merchantId));
  if (merchantId === undefined || others.length > 0) return movements.map(() => null);
  type Found = { readonly id: string; readonly ofAll: string; readonly ofShop: string };
  const found = await run<Found>(runner, after, [merchantId, movements.map(({ id }) => id)]);
  const known = new Map(
    found.map(({ id, ofAll, ofShop }) => [id, { ofAll: BigInt(ofAll), ofShop: BigInt(ofShop) }]),
  );
  return movements.map(({ id }) => known.get(id) ?? null);
};

const sum = (amounts: readonly bigint[]): bigint =>
  amounts.reduce((total, amount) => total + amount, 0n);

/** The sum over the shops, and each shop's part (docs/contract.md#balance-and-ledger). */
const balanceOf = (shops: readonly ShopBalanceRow[], currency: string) => ({
  balance: sum(shops.map(({ balance }) => balance)),
  available: sum(shops.map(({ available }) => available)),
  currency,
  shops: shops.map(({ shopId, shopName, balance }) => ({ shopId, shopName, balance })),
});

/** What some shops' postings came to, by type. */
const turnoverOf = (shops: readonly ShopClosing[]) => {
  const of = (type: LedgerType): bigint => sum(shops.map(({ moved }) => moved.get(type) ?? 0n));
  return {
    payment: of('payment'),
    fee: of('fee'),
    refund: of('refund'),
    payout: of('payout'),
    payoutFee: of('payout_fee'),
    settlement: of('settlement'),
    adjustment: of('adjustment'),
  };
};

const closingOf = (shops: readonly ShopClosing[], currency: string) => ({
  currency,
  opening: sum(shops.map(({ opening }) => opening)),
  turnover: turnoverOf(shops),
  closing: sum(shops.map(({ closing }) => closing)),
  closingAvailable: sum(shops.map(({ closingAvailable }) => closingAvailable)),
  shops: shops.map((shop) => ({ ...shop, turnover: turnoverOf([shop]) })),
});

/**
 * Movements of these facts, which are found by the postings' sources. `facts` is SQL of pairs of
 * source kind and id; over all merchants the movements' own column is compared.
 */
const ofFacts = (
  column: string,
  value: string | null | undefined,
  facts: (parameter: string, merchant: string) => string,
): RowFilter => ({
  sql: (parameter, merchant) => {
    const owner = merchant();
    if (owner === null) return `${column}::text = ${parameter}::text`;
    return `posting.id = any (array(select entry.id from (${facts(`${parameter}::text`, owner)}) as fact (kind, id)
      join posting as entry on entry.merchant_id = ${owner} and entry.source_kind = fact.kind and entry.source_id = fact.id))`;
  },
  value,
  indexedBy: [],
});

/** No fact has it. */
const noId = '00000000-0000-0000-0000-000000000000';
const idIn = (text: string | null | undefined) =>
  text && (isUuid(text) ? text.toLowerCase() : noId);

const ofPayment = (named: string | null | undefined): RowFilter => {
  const isPublic = typeof named === 'string' && !isUuid(named);
  return ofFacts('posting.payment_id', isPublic ? named : idIn(named), (paid, merchant) => {
    const id = isPublic
      ? `select payment.id from payment where payment.merchant_id = ${merchant} and payment.public_id = ${paid}`
      : `select ${paid}::uuid as id`;
    return `select 'payment', paid.id from (${id}) as paid union all select 'refund', refund.id
      from (${id}) as paid join refund on refund.merchant_id = ${merchant} and refund.payment_id = paid.id`;
  });
};

const ofPayout = (id: string | null | undefined): RowFilter =>
  ofFacts('posting.payout_id', idIn(id), (paid) => `select 'payout', ${paid}::uuid`);

export const balanceQueries = ({ database: { pool } }: OnDatabase<'pool'>) =>
  ({
    balance: async (_, { merchantId, mode, currency }, { principal }) => {
      const read = principal.kind === 'key' ? principal.mode : (mode ?? 'live');
      return balanceOf(
        await readBalances(pool, merchantOf(principal, merchantId), read, currency),
        currency,
      );
    },
    balanceAt: async (_, { merchantId, mode, currency, at }, { principal }) =>
      balanceOf(
        await readBalancesAt(pool, merchantOf(principal, merchantId), mode, currency, at),
        currency,
      ),
    closing: async (_, { merchantId, mode, currency, from, to }, { principal }) => {
      if (Temporal.Instant.compare(from, to) > 0)
        throw refusal('bad_request', 'to: expected a moment after from');
      const span = { merchantId: merchantOf(principal, merchantId), mode, currency, from, to };
      return closingOf(await readClosing(pool, span), currency);
    },
    ledger: async (_, { type, mode, filter, ...asked }, { principal }) => {
      const types = type ? [type] : filter?.type;
      const request = {
        ...asked,
        filter,
        modes: [mode ?? 'live'] as const,
        columns: { type: types },
        rows: [ofPayment(filter?.paymentId), ofPayout(filter?.payoutId)],
      };
      return orThrow(await pageOfLedger(pool, principal, request));
    },
  }) satisfies QueryResolvers;

/** What a movement's own row does not have. */
export const ledgerEntryFields = ({ database: { pool } }: OnDatabase<'pool'>) => {
  const balancesOf = perCall<LedgerRow, BalanceAfter | null, string>(
    (movements) => balancesAfter(pool, movements),
    nameOfReference,
  );
  return {
    shopBalance: async (entry, _, context) =>
      (await balancesOf(context).load(entry))?.ofShop ?? null,
    balance: async (entry, _, context) =>
      context.principal.kind === 'key'
        ? null
        : ((await balancesOf(context).load(entry))?.ofAll ?? null),
    payment: ({ merchantId, paymentId }) =>
      paymentId === null ? null : { merchantId, id: paymentId },
    payout: ({ merchantId, payoutId }) => (payoutId === null ? null : { merchantId, id: payoutId }),
  } satisfies LedgerEntryResolvers;
};
