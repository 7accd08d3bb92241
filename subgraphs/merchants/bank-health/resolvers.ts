/** GraphQL resolvers for bank health, for platform operators. */
import type { QueryResolvers } from '../../../schema/generated/merchants.ts';
import type { Database } from '../../kernel/database/orm.ts';
import { orThrow } from '../../kernel/service/access/reach.ts';
import { readBreakers, readHealth } from './read-bank-health.ts';
import { spanOf } from './rules.ts';

/** Processes without a bank call for this long are left out: they may have ended. */
const breakers_min = 15;

/** The query of the health of banks. */
export const bankHealthQueries = ({
  database: { pool },
}: {
  readonly database: Pick<Database, 'pool'>;
}) =>
  ({
    bankHealth: async (_, { hours }, { now }) => {
      const { from, interval_min } = orThrow(spanOf(now(), hours));
      const [rows, breakers] = await Promise.all([
        readHealth(pool, from, interval_min),
        readBreakers(pool, now().subtract({ minutes: breakers_min })),
      ]);
      return { from, intervalMinutes: interval_min, rows, breakers: [...breakers] };
    },
  }) satisfies QueryResolvers;
