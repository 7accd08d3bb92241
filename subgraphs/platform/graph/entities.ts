/**
 * Entities across subgraphs: the references in `_entities` are checked against the caller's tenant
 * and loaded in one call per type, so that a list of references costs one SQL statement.
 */
import {
  GraphQLError,
  isUnionType,
  Kind,
  type DocumentNode,
  type GraphQLSchema,
  type ObjectTypeDefinitionNode,
} from 'graphql';
import type { Mode } from '../../rules/mode.ts';
import type { Principal } from '../access/principal.ts';
import { perCall, type SubgraphContext } from './subgraph.ts';

/** Names one entity. For a merchant `merchantId` is the `id`. */
export interface EntityReference {
  readonly merchantId: string;
  readonly id: string;
}

/** A name that equal references share, however their ids are written. */
export const nameOfReference = ({ merchantId, id }: EntityReference): string =>
  `${merchantId} ${id}`.toLowerCase();

/**
 * Loads entities of one type: for each reference its row, or null when there is none, in the order
 * of the references. The references are distinct and all within the caller's tenant.
 */
type EntityLoader = (
  references: readonly EntityReference[],
  context: SubgraphContext,
) => Promise<readonly (object | null)[]>;

/** A subgraph's loaders by type name: one for every type with a resolvable `@key`. */
export type EntityLoaders = Readonly<Record<string, EntityLoader>>;

/**
 * Whether the caller may read the merchant's data: services and the operator's own people may read
 * all.
 */
export const mayReadMerchant = (principal: Principal, merchantId: string): boolean => {
  switch (principal.kind) {
    case 'key':
    case 'buyer':
      return principal.merchantId === merchantId;
    case 'operator':
      return principal.merchantId === null || principal.merchantId === merchantId;
    case 'service':
      return true;
    // Its root fields are few; and the holder of its key can speak for an operator of all
    // merchants.
    case 'edge':
      return true;
  }
};

/** What a merchant has in one mode, whatever the shop: its tokens and subscriptions. */
export interface OfMode {
  readonly merchantId: string;
  readonly mode: Mode;
}

/** What a shop has in one mode: its payments, refunds and payouts. */
export interface OfShop extends OfMode {
  readonly shopId: string;
}

/**
 * Whether the caller may read what a merchant has in one mode: a key in its own mode, a buyer not.
 */
export const mayReadOfMode = (principal: Principal, row: OfMode): boolean => {
  if (principal.kind === 'buyer' || !mayReadMerchant(principal, row.merchantId)) return false;
  return principal.kind !== 'key' || principal.mode === row.mode;
};

/**
 * Whether the caller may read what a shop has in one mode: a key of this shop in this mode, a buyer
 * not.
 */
export const mayReadOfShop = (principal: Principal, row: OfShop): boolean =>
  mayReadOfMode(principal, row) && (principal.kind !== 'key' || principal.shopId === row.shopId);

/**
 * A loader that returns only the caller's own rows: another's row looks like a missing one. The
 * reference has been checked for the merchant; the row states its other owners.
 */
export const ownOnly =
  <Row extends object>(
    load: (
      references: readonly EntityReference[],
      context: SubgraphContext,
    ) => Promise<readonly (Row | null)[]>,
    mayRead: (principal: Principal, row: Row) => boolean,
  ): EntityLoader =>
  async (references, context) => {
    const rows = await load(references, context);
    return rows.map((row) => (row && mayRead(context.principal, row) ? row : null));
  };

/**
 * Types of the SDL that other subgraphs may reference by key. Throws on a key without the merchant.
 */
export const resolvableEntities = (sdl: DocumentNode): readonly string[] => {
  const definitions = sdl.definitions.filter(
    (definition): definition is ObjectTypeDefinitionNode =>
      definition.kind === Kind.OBJECT_TYPE_DEFINITION,
  );
  return definitions.filter(hasResolvableKey).map((definition) => definition.name.value);
};

const hasResolvableKey = (type: ObjectTypeDefinitionNode): boolean =>
  (type.directives ?? []).some((directive) => {
    if (directive.name.value !== 'key') return false;
    const argument = (name: string) =>
      directive.arguments?.find((candidate) => candidate.name.value === name)?.value;
    const resolvable = argument('resolvable');
    if (resolvable?.kind === Kind.BOOLEAN && !resolvable.value) return false;
    const fields = argument('fields');
    const key = fields?.kind === Kind.STRING ? fields.value : '';
    if (key !== 'merchantId id' && !(type.name.value === 'Merchant' && key === 'id')) {
      throw new Error(
        `the key of ${type.name.value} is "${key}": the tenant check needs "merchantId id"`,
      );
    }
    return true;
  });

/**
 * Adds the `_entities` resolver to the schema. What fails is an Error in its place; nothing is
 * rejected. Throws when loaders and resolvable types do not match one to one.
 */
export const resolveEntities = (
  schema: GraphQLSchema,
  sdl: DocumentNode,
  loaders: EntityLoaders,
): void => {
  const expected = resolvableEntities(sdl);
  const wrong = [
    ...expected.filter((name) => !loaders[name]),
    ...Object.keys(loaders).filter((name) => !expected.includes(name)),
  ];
  if (wrong.length > 0)
    throw new Error(
      `every type with a resolvable key needs one loader and nothing else has one: ${wrong.join(', ')}`,
    );
  const field = schema.getQueryType()?.getFields()['_entities'];
  const union = schema.getType('_Entity');
  if (!field || !isUnionType(union)) return;
  const typeNames = new WeakMap<object, string>();
  // Rows are not marked themselves: they may be entities of the ORM.
  union.resolveType = (row: object) => typeNames.get(row);
  const rowsOf = new Map(
    Object.entries(loaders).map(([name, load]) => [name, perCall(load, nameOfReference)]),
  );
  const load = async (representation: unknown, context: SubgraphContext) => {
    const { typeName, reference } = readRepresentation(representation);
    // Another merchant's object looks like one that does not exist.
    if (!mayReadMerchant(context.principal, reference.merchantId)) return null;
    const rows = rowsOf.get(typeName);
    if (!rows) throw wrongInput(`${typeName} is not an entity of this subgraph`);
    const row = await rows(context).load(reference);
    if (row) typeNames.set(row, typeName);
    return row;
  };
  field.resolve = (
    _source,
    { representations }: { representations: readonly unknown[] },
    context: SubgraphContext,
  ) =>
    Promise.all(
      representations.map((one) =>
        load(one, context).catch((thrown: unknown) =>
          thrown instanceof Error ? thrown : new Error(String(thrown)),
        ),
      ),
    );
};

const wrongInput = (message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT' } });

const readRepresentation = (
  value: unknown,
): { readonly typeName: string; readonly reference: EntityReference } => {
  const fields = new Map<string, unknown>(Object.entries(value ?? {}));
  const typeName = fields.get('__typename');
  const id = fields.get('id');
  const merchantId = typeName === 'Merchant' ? id : fields.get('merchantId');
  if (typeof typeName === 'string' && typeof id === 'string' && typeof merchantId === 'string')
    return { typeName, reference: { merchantId, id } };
  throw wrongInput('a representation names its type, its merchant and its id');
};
