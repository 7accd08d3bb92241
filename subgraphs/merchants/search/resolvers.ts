/** GraphQL resolvers for the console's search. */
import type { QueryResolvers } from '../../../schema/generated/merchants.ts';
import type { OnDatabase } from '../../platform/database/orm.ts';
import { merchantOrNone, isUuid } from '../../rules/ids.ts';
import { anyMerchantOf } from '../../platform/access/access.ts';
import { searchAnything, type Found } from './search-anything.ts';

type Kind = Found['kind'];

const entity =
  (kinds: readonly Kind[]) =>
  ({ kind, merchantId, id }: Found) =>
    kinds.includes(kind) ? { merchantId, id } : null;

/** A search is never refused: an unknown zone falls back to UTC. */
const knownZone = (timeZone: string): string => {
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(timeZone).timeZoneId;
  } catch {
    return 'UTC';
  }
};

/** The query; a cabinet user searches its own merchant alone. */
export const searchQueries = ({ database: { pool } }: OnDatabase<'pool'>) =>
  ({
    search: async (_, { text, merchantId: named, timeZone }, { principal }) => {
      const merchantId = anyMerchantOf(principal, named);
      return merchantId === null || isUuid(merchantId)
        ? searchAnything(pool, merchantId, text, {
            now: Temporal.Now.instant(),
            timeZone: knownZone(timeZone),
          })
        : [];
    },
  }) satisfies QueryResolvers;

/** Results as objects of their own subgraphs. */
export const searchFields = {
  SearchHit: {
    merchantId: ({ merchantId }: Found) => merchantOrNone(merchantId),
    payment: ({ merchantId, paymentId }: Found) =>
      paymentId === null ? null : { merchantId, id: paymentId },
    refund: entity(['refund']),
    payout: entity(['payout']),
    subscription: entity(['subscription']),
  },
};
