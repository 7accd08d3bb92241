/** The person who calls. */
import { isEnumType, type GraphQLSchema } from 'graphql';
import type {
  QueryResolvers,
  Resolvers,
  Permission,
  ViewerPermission,
} from '../../../schema/generated/merchants.ts';
import { isUuid } from '../../rules/ids.ts';
import type { Database } from '../../platform/database/orm.ts';
import { refusal, access, accessRefusal } from '../../platform/access/access.ts';
import { loadMerchants } from '../find-merchants.ts';
import type { OperatorPrincipal } from '../../platform/access/principal.ts';

/**
 * Every value of the enum `Permission`, which is the name of a root field, with whether the person
 * has it by the access table. A test compares the enum with the table.
 */
const permissionsOf = (principal: OperatorPrincipal, schema: GraphQLSchema): ViewerPermission[] => {
  const type = schema.getType('Permission');
  const values = isEnumType(type) ? type.getValues() : [];
  return values.map(({ name }) => {
    const coordinate = access[`Mutation.${name}`] ? `Mutation.${name}` : `Query.${name}`;
    const { operator: leastRole, platform = false } = access[coordinate] ?? {};
    if (leastRole === undefined) throw new Error(`${name} is not for people`);
    const granted = accessRefusal(coordinate, principal) === null;
    return { name: name as Permission, leastRole, platformOnly: platform, granted };
  });
};

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
}: {
  readonly database: Pick<Database, 'emOf'>;
  readonly issuer: string | null;
}) =>
  ({
    Viewer: {
      issuer: () => issuer,
      merchant: async ({ merchantId }, _, context) => {
        // A token may name something that does not exist.
        if (merchantId === null || !isUuid(merchantId)) return null;
        const [merchant] = await loadMerchants(database.emOf(context), [merchantId]);
        return merchant ?? null;
      },
      permissions: (principal, _, __, { schema }) => permissionsOf(principal, schema),
    },
  }) satisfies Resolvers;
