/** The executable schema of a subgraph: every field behind its guard, masked and counted. */
// Its index also loads what composes and validates, which `npm run generate` has done.
import { addResolversToSchema } from '@apollo/subgraph/dist/schema-helper/index.js';
import {
  buildASTSchema,
  defaultFieldResolver,
  GraphQLError,
  isAbstractType,
  isObjectType,
  Kind,
  parse,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isUnionType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  isCompositeType,
  isEnumType,
  isInterfaceType,
  isIntrospectionType,
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  type SelectionSetNode,
} from 'graphql';
import { isInLane, nextSlice, outsideOfLane } from '../access/lane.ts';
import { scalars } from '../../../schema/scalars.ts';
import { readWholeSdl } from '../../../schema/generated-files.ts';
import type { SubgraphName } from '../../../schema/sources.ts';
import { isUuid } from '../../rules/ids.ts';
import { access, accessBelowRoot, accessRefusal, refusal } from '../access/access.ts';
import { resolveEntities, type EntityLoaders, mayReadMerchant } from './entities.ts';
import { freeTexts } from './free-texts.ts';
import { maskedDeeply } from '../../rules/card.ts';
import type { SubgraphContext } from './subgraph.ts';
import { refuse, type Refusal, isPlainText } from '../../rules/refusal.ts';
import type { Principal } from '../access/principal.ts';
import { shortScalars, valueSize, type AnswerMeter } from '../access/answer-meter.ts';

/*
 * Calls that name a merchant: another's merchant is reported as not found, before the field's own
 * resolver runs. This covers every field with an argument `merchantId`, present and future.
 */

const noMerchant = 'there is no such merchant';

type Path = readonly string[];

/** Where the arguments of a field name merchants; found once, when the schema is built. */
const pathsIn = (
  inputs: readonly (GraphQLArgument | GraphQLInputField)[],
  above: Path,
): readonly Path[] =>
  inputs.flatMap(({ name, type }) => {
    if (name === 'merchantId') return [[...above, name]];
    const named = getNamedType(type);
    // Inputs are two levels deep at most; the limit only stops the recursion of an input that
    // contains itself.
    return isInputObjectType(named) && above.length < 3
      ? pathsIn(Object.values(named.getFields()), [...above, name])
      : [];
  });

const valuesAt = (value: unknown, [name, ...rest]: Path): readonly unknown[] => {
  if (Array.isArray(value))
    return value.flatMap((item) => valuesAt(item, name === undefined ? [] : [name, ...rest]));
  if (name === undefined) return [value];
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? valuesAt(Reflect.get(value, name), rest)
    : [];
};

const canRefuse = (field: GraphQLField<unknown, unknown>): boolean => {
  const type = getNamedType(field.type);
  return (
    isUnionType(type) &&
    type.getTypes().some((member) => isObjectType(member) && member.name === 'Refused')
  );
};

/** Whether there are merchants with all of these ids. */
type AreMerchants = (ids: readonly string[]) => Promise<boolean>;

/**
 * The result for a field's arguments: the refusal as a value where the field has a place for it,
 * null when they name no other merchant.
 */
type Check = (args: unknown, principal: Principal) => Refusal | null | Promise<Refusal | null>;

/**
 * The check of a field. It throws the refusal where the field has no place for it. A missing
 * merchant gets the same message as another's; only people name merchants that may not exist, so
 * other callers skip the lookup.
 */
const strangerCheck = (
  field: GraphQLField<unknown, unknown>,
  areMerchants: AreMerchants,
): Check => {
  const paths = pathsIn(field.args, []);
  if (paths.length === 0) return () => null;
  const hasPlace = canRefuse(field);
  const refused = (): Refusal => {
    if (!hasPlace) throw refusal('not_found', noMerchant);
    return refuse('not_found', noMerchant);
  };
  return (args, principal) => {
    const named = paths
      .flatMap((path) => valuesAt(args, path))
      .filter((merchantId) => typeof merchantId === 'string');
    if (!named.every((merchantId) => mayReadMerchant(principal, merchantId))) return refused();
    if (principal.kind !== 'operator' || named.length === 0) return null;
    return areMerchants(named).then((known) => (known ? null : refused()));
  };
};

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

// Free texts. An author gets the text back as sent: a key its own merchant's, a buyer the shop's text
// to them. For people at a console, operators and cabinet users, a card number in it is shown by its
// last 4 digits. The message of a refusal is masked for everyone.

/** Masked for everyone. */
const refusals: ReadonlySet<string> = new Set(['Refused', 'FieldMistake']);

const masking = new WeakSet<object>();

/** Whether a field's resolver only masks what its object holds under the field's name. */
const isFreeText = (field: object): boolean => masking.has(field);

const maskFreeTexts = (schema: GraphQLSchema): void => {
  for (const [typeName, fields] of Object.entries(freeTexts)) {
    const type = schema.getType(typeName);
    if (!isObjectType(type)) continue;
    for (const name of Object.keys(fields)) {
      const field = type.getFields()[name];
      // A type of one subgraph may have fields of another.
      if (!field) continue;
      masking.add(field);
      const resolve = field.resolve ?? defaultFieldResolver;
      field.resolve = (source, args, context: SubgraphContext, info) => {
        const text: unknown = resolve(source, args, context, info);
        if (context.principal.kind !== 'operator' && !refusals.has(type.name)) return text;
        return text instanceof Promise ? text.then(maskedDeeply) : maskedDeeply(text);
      };
    }
  }
};

// Makes a schema count what its resolvers return, by the selection, before anything is built from
// it. Only calls with a meter are counted. A field without a resolver is counted with its object; a
// composite field with a resolver, when that has answered.

/** The text of an id, or of a scalar with its own resolver: an address of the page is as long. */
const resolvedScalarSize = 120;
/** A resolver's call costs as much as ten values. */
const resolverSize = 10 * valueSize;

/** What one object of a selection takes. */
interface Weight {
  size: number;
  /** Properties with texts, each as often as it is selected. */
  readonly texts: string[];
  /** Objects within that come with this one. */
  readonly inner: { readonly property: string; readonly weight: Weight }[];
}

type Resolve = NonNullable<GraphQLField<unknown, SubgraphContext>['resolve']>;

/** Puts the count into every composite field of the schema that has a resolver. */
const measureAnswers = (schema: GraphQLSchema): void => {
  const weightOf = weigher(schema);
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const named = getNamedType(field.type);
      if (field.resolve && isCompositeType(named))
        field.resolve = measured(field.resolve, named, weightOf);
    }
  }
};

const measured =
  (resolve: Resolve, type: GraphQLNamedType, weightOf: WeightOf): Resolve =>
  (source, args, context, info) => {
    const { meter } = context;
    if (!meter) return resolve(source, args, context, info);
    if (meter.exceeded) return meter.never;
    const given: unknown = resolve(source, args, context, info);
    const weight = weightOf(type, info);
    return given instanceof Promise
      ? given.then((value: unknown) => counted(value, weight, meter))
      : counted(given, weight, meter);
  };

const counted = (value: unknown, weight: Weight, meter: AnswerMeter): unknown => {
  try {
    count(value, weight, meter);
    return value;
  } catch {
    // The count alone throws here, and the meter has the reason.
    return meter.never;
  }
};

const count = (value: unknown, weight: Weight, meter: AnswerMeter): void => {
  if (typeof value !== 'object' || value === null || value instanceof Error) return;
  if (Array.isArray(value)) {
    for (const item of value) count(item, weight, meter);
    return;
  }
  meter.take(weight.size);
  for (const property of weight.texts) meter.takeContent(Reflect.get(value, property));
  for (const { property, weight: inside } of weight.inner)
    count(Reflect.get(value, property), inside, meter);
};

type WeightOf = (
  type: GraphQLNamedType,
  info: Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>,
) => Weight;

/** Weights are computed once for each place of a document; its executor stores them. */
const weigher = (schema: GraphQLSchema): WeightOf => {
  const known = new WeakMap<FieldNode, Weight>();
  return (type, { fieldNodes, fragments }) => {
    const [first] = fieldNodes;
    const before = first && known.get(first);
    if (before) return before;
    const weight = weigh(
      schema,
      type,
      fieldNodes.flatMap(({ selectionSet }) => selectionSet ?? []),
      fragments,
    );
    if (first) known.set(first, weight);
    return weight;
  };
};

/**
 * The weight of an object of the type. Of an abstract type it is what all its types together would
 * take.
 */
const weigh = (
  schema: GraphQLSchema,
  type: GraphQLNamedType | undefined,
  sets: readonly SelectionSetNode[],
  fragments: GraphQLResolveInfo['fragments'],
): Weight => {
  const weight: Weight = { size: valueSize, texts: [], inner: [] };
  const add = (above: GraphQLNamedType | undefined, { selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        const fields = isObjectType(above) || isInterfaceType(above) ? above.getFields() : {};
        addField(weight, fields[selection.name.value], (inside) =>
          weigh(schema, inside, selection.selectionSet ? [selection.selectionSet] : [], fragments),
        );
        continue;
      }
      const fragment =
        selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value];
      const condition = fragment?.typeCondition?.name.value;
      if (fragment)
        add(condition === undefined ? above : schema.getType(condition), fragment.selectionSet);
    }
  };
  for (const set of sets) add(type, set);
  return weight;
};

/** Adds one field. `__typename`, which no type lists, is a value of its own like any other. */
const addField = (
  weight: Weight,
  field: GraphQLField<unknown, unknown> | undefined,
  inside: (type: GraphQLNamedType) => Weight,
): void => {
  weight.size += valueSize;
  if (!field) return;
  const type = getNamedType(field.type);
  if (isCompositeType(type)) {
    if (field.resolve) weight.size += resolverSize;
    else weight.inner.push({ property: field.name, weight: inside(type) });
  } else if (isEnumType(type) || shortScalars.has(type.name)) {
    return;
  } else if ((field.resolve && !isFreeText(field)) || type.name === 'ID') {
    weight.size += resolvedScalarSize;
  } else {
    weight.texts.push(field.name);
  }
};
