/** The person who calls. */
import { enums } from '../../../schema/generated/enums.ts';
import type {
  QueryResolvers,
  Resolvers,
  ViewerPermission,
} from '../../../schema/generated/merchants.ts';
import { isUuid } from '../../rules/ids.ts';
import type { OnDatabase } from '../../platform/database/orm.ts';
import { refusal, access, accessRefusal } from '../../platform/access/access.ts';
import { loadMerchants } from '../find-merchants.ts';
import type { OperatorPrincipal } from '../../platform/access/principal.ts';

/**
 * Every value of the enum `Permission`, which is the name of a root field, with whether the person
 * has it by the access table. A test compares the enum with the table.
 */

const rootFields = enums.Permission.map((name) => {
  const coordinate = [`Mutation.${name}`, `Query.${name}`].find((field) => access[field]);
  const row = coordinate === undefined ? undefined : access[coordinate];
  if (coordinate === undefined || !row?.operator) throw new Error(`${name} is not for people`);
  return { name, coordinate, leastRole: row.operator, platformOnly: row.platform === true };
});

/** Every permission, with whether the person has it. */
const permissionsOf = (principal: OperatorPrincipal): ViewerPermission[] =>
  rootFields.map(({ coordinate, ...permission }) => ({
    ...permission,
    granted: accessRefusal(coordinate, principal) === null,
  }));

export const viewerQueries = {
  viewer: (_, __, { principal }) => {
    if (principal.kind !== 'operator') throw refusal('scope_required', 'the viewer is a person');
    return principal;
  },
} satisfies QueryResolvers;

/** Fields derived from the person's identity. */
export const viewerFields = ({
  database,
  issuer,
}: OnDatabase<'emOf'> & { readonly issuer: string | null }) =>
  ({
    Viewer: {
      issuer: () => issuer,
      merchant: async ({ merchantId }, _, context) => {
        // A token may name something that does not exist.
        if (merchantId === null || !isUuid(merchantId)) return null;
        const [merchant] = await loadMerchants(database.emOf(context), [merchantId]);
        return merchant ?? null;
      },
      permissions: (principal) => permissionsOf(principal),
    },
  }) satisfies Resolvers;
