/** The executable schema of a subgraph, with every field behind its guard. */
// Its index also loads what composes and validates, which `npm run generate` has done.
import { addResolversToSchema } from '@apollo/subgraph/dist/schema-helper/index.js';
import {
  buildASTSchema,
  GraphQLError,
  isAbstractType,
  isObjectType,
  Kind,
  parse,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import { isInLane, nextSlice, outsideOfLane } from '../access/lane.ts';
import { scalars } from '../../../schema/scalars.ts';
import { readWholeSdl } from '../../../schema/generated-files.ts';
import type { SubgraphName } from '../../../schema/sources.ts';
import { isUuid } from '../../rules/uuid.ts';
import { access, accessBelowRoot, accessRefusal } from '../access/access.ts';
import { resolveEntities, type EntityLoaders } from './entities.ts';
import { maskFreeTexts } from './free-texts.ts';
import { measureAnswers } from './measure-answers.ts';
import { strangerCheck, type AreMerchants } from './named-merchant.ts';
import type { SubgraphContext } from './subgraph.ts';
import { isPlainText } from '../../rules/block.ts';

/*
 * Texts of the graph that no record can hold. The REST API refuses them where it reads a body; this
 * is the same border for the graph.
 */

const isHolder = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const isUsable = (value: unknown): boolean => {
  if (typeof value === 'string') return isPlainText(value);
  return (
    !isHolder(value) ||
    Object.keys(value).every((name) => isPlainText(name) && isUsable(value[name]))
  );
};

/**
 * Throws `bad_request`, naming the argument, when a text in it has U+0000 or half of a surrogate
 * pair: PostgreSQL accepts neither.
 */
const assertPlainTexts = (args: Readonly<Record<string, unknown>>): void => {
  const unusable = Object.keys(args).find((name) => !isUsable(args[name]));
  if (unusable === undefined) return;
  throw new GraphQLError(`${unusable}: expected texts without U+0000 and unpaired surrogates`, {
    extensions: { code: 'bad_request' },
  });
};

type ResolverMap = Parameters<typeof addResolversToSchema>[1];

export interface SubgraphDeps {
  readonly name: SubgraphName;
  /** Resolvers by type and field, as the generated `Resolvers` type of the subgraph has them. */
  readonly resolvers: Readonly<Record<string, unknown>>;
  /** How the subgraph's entities are loaded by key. */
  readonly entities: EntityLoaders;
  /** Looks whether the merchants that a person names are there. */
  readonly areMerchants: AreMerchants;
}

/**
 * The executable schema of a subgraph: its SDL with the resolvers, every root field behind its row
 * of the access table, every entity behind the tenant check. Throws, naming all of them, when a
 * root field has no resolver or no access row, or an entity no loader.
 */
export const buildSubgraph = ({
  name,
  resolvers,
  entities,
  areMerchants,
}: SubgraphDeps): GraphQLSchema => {
  const sdl = readWholeSdl(name);
  const document = parse(sdl, { noLocation: true });
  const declared = document.definitions.flatMap((definition) =>
    definition.kind === Kind.SCALAR_TYPE_DEFINITION ? [definition.name.value] : [],
  );
  const ownScalars = Object.fromEntries(
    Object.entries(scalars).filter(([scalar]) => declared.includes(scalar)),
  );
  const schema = buildASTSchema(document, { assumeValidSDL: true });
  // The library's own map type differs from that of the generated resolvers: each module was
  // checked against the latter.
  addResolversToSchema(schema, { ...ownScalars, ...resolvers } as ResolverMap);
  addResolversToSchema(schema, { Query: { _service: () => ({ sdl }) } });
  guardRootFields(schema, areMerchants);
  guardFieldsBelow(schema, areMerchants);
  resolveAbstractTypes(schema);
  resolveEntities(schema, document, entities);
  maskFreeTexts(schema);
  measureAnswers(schema);
  return schema;
};

const guardRootFields = (schema: GraphQLSchema, areMerchants: AreMerchants): void => {
  const roots = [schema.getQueryType(), schema.getMutationType()].filter(
    (type) => type !== null && type !== undefined,
  );
  const mistakes = roots.flatMap((type) =>
    Object.keys(type.getFields())
      .filter((field) => !field.startsWith('_'))
      .flatMap((field) => guardField(type, field, areMerchants)),
  );
  if (mistakes.length > 0) throw new Error(mistakes.join('\n'));
};

/**
 * Puts the fields below the root that have a row behind it, where this subgraph is the one that
 * resolves them.
 */
const guardFieldsBelow = (schema: GraphQLSchema, areMerchants: AreMerchants): void => {
  for (const coordinate of Object.keys(accessBelowRoot)) {
    const [typeName = '', fieldName = ''] = coordinate.split('.');
    const type = schema.getType(typeName);
    if (isObjectType(type) && type.getFields()[fieldName]?.resolve)
      guardField(type, fieldName, areMerchants);
  }
};

const areIds: AreMerchants = async (ids) => ids.every(isUuid);

/** Puts one field behind its access row; returns the reason for a refusal. */
const guardField = (
  type: GraphQLObjectType,
  fieldName: string,
  areMerchants: AreMerchants,
): readonly string[] => {
  const coordinate = `${type.name}.${fieldName}`;
  const field = type.getFields()[fieldName];
  const resolve = field?.resolve;
  if (!access[coordinate] && !accessBelowRoot[coordinate])
    return [`no access row for ${coordinate}`];
  if (!field || !resolve) return [`no resolver for ${coordinate}`];
  // Fields where only the platform's operators may name a merchant check it themselves: alerts and
  // differences are filtered by it.
  const namesStranger = strangerCheck(field, access[coordinate]?.platform ? areIds : areMerchants);
  field.resolve = (
    source,
    args: Readonly<Record<string, unknown>>,
    context: SubgraphContext,
    info,
  ) => {
    const lack = accessRefusal(coordinate, context.principal);
    if (lack !== null)
      throw new GraphQLError(lack, {
        extensions: { code: context.principal.kind === 'key' ? 'scope_required' : 'forbidden' },
      });
    assertPlainTexts(args);
    const go = (): unknown => {
      const stranger = namesStranger(args, context.principal);
      if (stranger instanceof Promise)
        return stranger.then((refused) => refused ?? resolve(source, args, context, info));
      return stranger ?? resolve(source, args, context, info);
    };
    // A change does not wait in the lane; reads of its result do.
    if (type.name === 'Mutation') return outsideOfLane(go);
    // Fields below the root load together, so that they begin together.
    return type.name === 'Query' && isInLane() ? nextSlice().then(go) : go();
  };
  return [];
};

/**
 * Unions and interfaces use `__typename`. The library's own way throws where graphql-jit cannot
 * catch it, and the call would never end.
 */
const resolveAbstractTypes = (schema: GraphQLSchema): void => {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isAbstractType(type) || type.name.startsWith('_') || type.resolveType) continue;
    type.resolveType = (value: unknown) =>
      typeof value === 'object' &&
      value !== null &&
      '__typename' in value &&
      typeof value.__typename === 'string'
        ? value.__typename
        : undefined;
  }
};
