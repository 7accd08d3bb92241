/**
 * GraphQL resolvers for balances and the ledger: a merchant's own, and any merchant's for
 * operators, now or as of a moment.
 */
import type { LedgerEntryResolvers, QueryResolvers } from '../../../schema/generated/merchants.ts';
import type { Database } from '../../platform/database/orm.ts';
import type { RowFilter } from '../../platform/database/list-statements.ts';
import { readBalancesAt, readClosing, type ShopClosing } from '../../ledger/closing.ts';
import { readBalances, type ShopBalanceRow } from '../../ledger/balance.ts';
import type { LedgerType } from '../../rules/postings.ts';
import { isUuid } from '../../rules/uuid.ts';
import { merchantOf, orThrow, refusal } from '../../platform/access/reach.ts';
import { perCall } from '../../platform/graph/per-call.ts';
import { pageOfLedger, type LedgerRow } from './read-ledger.ts';
import { balancesAfter, type BalanceAfter } from './running-balance.ts';

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

/** The queries of balances and of the ledger. */
export const balanceQueries = ({
  database: { pool },
}: {
  readonly database: Pick<Database, 'pool'>;
}) =>
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
export const ledgerEntryFields = ({
  database: { pool },
}: {
  readonly database: Pick<Database, 'pool'>;
}) => {
  const balancesOf = perCall<LedgerRow, BalanceAfter | null, string>(
    (movements) => balancesAfter(pool, movements),
    ({ merchantId, id }) => `${merchantId}/${id}`,
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
