/** Where webhooks fail, in the graph. */
import type { QueryResolvers } from '../../../schema/generated/merchants.ts';
import type { Database } from '../../kernel/database/orm.ts';
import { merchantOf, orThrow } from '../../kernel/service/access/reach.ts';
import { findFailures } from './find-failures.ts';

/** The query of failed deliveries by address. */
export const failureQueries = ({
  database: { pool },
}: {
  readonly database: Pick<Database, 'pool'>;
}) =>
  ({
    webhookFailures: async (_, query, { principal, now }) => {
      const everybody =
        principal.kind === 'operator' && principal.merchantId === null && !query.merchantId;
      const merchantId = everybody ? null : merchantOf(principal, query.merchantId);
      const found = orThrow(await findFailures(pool, now(), { ...query, merchantId }));
      return { ...found, nodes: [...found.nodes] };
    },
  }) satisfies QueryResolvers;
