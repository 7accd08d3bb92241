/**
 * GraphQL resolvers for totals: of a key's shop, of a person's merchant or one of its shops, or of
 * all merchants.
 */
import type { QueryResolvers, QuerytotalsArgs } from '../../../schema/generated/merchants.ts';
import type { Database } from '../../kernel/database/orm.ts';
import { shopIdsOf } from '../../kernel/database/reach.ts';
import type { Runner } from '../../kernel/database/statement.ts';
import { isUuid } from '../../kernel/rules/uuid.ts';
import type { Principal } from '../../kernel/service/access/principal.ts';
import { merchantOf, orThrow, refusal } from '../../kernel/service/access/reach.ts';
import { isComplete, readTotals, type TotalsQuestion } from './read-totals.ts';
import { dividedByShops, intervalsOf } from './rules.ts';

type Whose = Pick<TotalsQuestion, 'merchantId' | 'shopIds'>;

/** The scope of a caller's totals. */
const whoseTotals = (
  principal: Principal,
  { merchantId: named, shopId }: Pick<QuerytotalsArgs, 'merchantId' | 'shopId'>,
): Whose => {
  const noShop = refusal('not_found', 'there is no such shop');
  if (shopId && !isUuid(shopId)) throw noShop;
  if (principal.kind === 'key') {
    if (shopId && shopId !== principal.shopId) throw noShop;
    return { merchantId: principal.merchantId, shopIds: [principal.shopId] };
  }
  if (principal.kind === 'operator' && principal.merchantId === null && !named) {
    if (shopId) throw refusal('bad_request', 'merchantId: required with shopId');
    return { merchantId: null, shopIds: null };
  }
  return { merchantId: merchantOf(principal, named), shopIds: shopId ? [shopId] : null };
};

/** The shops that divide the totals; their number is limited. */
const dividing = async (pool: Runner, whose: Whose, intervals: number): Promise<Whose> => {
  if (whose.shopIds) return whose;
  if (whose.merchantId === null)
    throw refusal('bad_request', 'groupBy: totals by shop require merchantId');
  const shopIds = await shopIdsOf(pool, whose.merchantId);
  const tooMany = dividedByShops(intervals, shopIds.length);
  if (tooMany) throw refusal(tooMany.code, tooMany.message);
  return { ...whose, shopIds };
};

/** The query of totals. */
export const totalsQueries = ({
  database: { pool },
}: {
  readonly database: Pick<Database, 'pool'>;
}) =>
  ({
    totals: async (_, { from, to, currency, of, ...asked }, { principal }) => {
      const groupBy = asked.groupBy ?? null;
      const span = { from, to, interval: asked.interval ?? null, timeZone: asked.timeZone };
      const { starts } = orThrow(intervalsOf(span));
      const whose = whoseTotals(principal, asked);
      const question = {
        ...(groupBy === 'shop' ? await dividing(pool, whose, starts.length) : whose),
        mode: principal.kind === 'key' ? principal.mode : (asked.mode ?? 'live'),
        currency,
        of,
        starts,
        to,
        groupBy,
      } as const;
      const [parts, complete] = await Promise.all([readTotals(pool, question), isComplete(pool)]);
      return {
        currency,
        complete,
        parts: parts.map((rows, place) => ({
          from: starts[place] ?? from,
          to: starts[place + 1] ?? to,
          rows: [...rows],
        })),
      };
    },
  }) satisfies QueryResolvers;
