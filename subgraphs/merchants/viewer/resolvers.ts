/** The person who calls. */
import type { QueryResolvers, Resolvers } from '../../../schema/generated/merchants.ts';
import { isUuid } from '../../kernel/rules/uuid.ts';
import type { Database } from '../../kernel/database/orm.ts';
import { refusal } from '../../kernel/service/access/reach.ts';
import { loadMerchants } from '../find-merchants.ts';
import { permissionsOf } from './permissions.ts';

/** The query of the caller. */
export const viewerQueries = {
  viewer: (_, __, { principal }) => {
    if (principal.kind !== 'operator') throw refusal('scope_required', 'the viewer is a person');
    return principal;
  },
} satisfies QueryResolvers;

/** Fields derived from the person's identity. */
export const viewerFields = ({ database }: { readonly database: Pick<Database, 'emOf'> }) =>
  ({
    Viewer: {
      merchant: async ({ merchantId }, _, context) => {
        // A token may name something that does not exist.
        if (merchantId === null || !isUuid(merchantId)) return null;
        const [merchant] = await loadMerchants(database.emOf(context), [merchantId]);
        return merchant ?? null;
      },
      permissions: permissionsOf,
    },
  }) satisfies Pick<Resolvers, 'Viewer'>;
