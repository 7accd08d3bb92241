/**
 * Documents that ask for everything: for each root field one document whose selection goes into
 * every type that can be reached from it, with every argument filled in. So a field that is added
 * tomorrow is asked for, too.
 */
import {
  getNamedType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  parse,
  validate,
  type DocumentNode,
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';

/**
 * Which arguments are given: all of them, those that name something, or only those that must be.
 */
export type Fill = 'all' | 'ids' | 'required';

/**
 * Where a type is asked for what it leads to: at the first place that comes to it, in each query
 * and in all mutations together, or at every place. Each field of each type is asked for either
 * way; every place is four times as much to plan.
 */
export type Depth = 'first place' | 'every place';

/**
 * The value for an argument by its name and the type that it is asked of; undefined: any value of
 * its type.
 */
export type ValueOf = (argument: string, asked: GraphQLNamedType) => unknown;

export interface EveryField {
  /** `Query.payment`. */
  readonly root: string;
  readonly document: DocumentNode;
  readonly variables: Readonly<Record<string, unknown>>;
  /** `Type.field` of all that it asks for. */
  readonly asks: ReadonlySet<string>;
}

/** How documents are written. */
export interface Asking {
  readonly fill: Fill;
  readonly depth: Depth;
  readonly valueOf: ValueOf;
}

interface Writing extends Asking {
  readonly schema: GraphQLSchema;
  /** The types that were asked for what they lead to. */
  readonly followed: Set<string>;
  readonly declared: string[];
  readonly variables: Record<string, unknown>;
  readonly asks: Set<string>;
}

const isId = (input: GraphQLArgument | GraphQLInputField): boolean =>
  getNamedType(input.type).name === 'ID';

/**
 * A cursor is of a page that was read before; a made-up one would hide the page. So would `last`
 * beside `first`.
 */
const hidesPage = ({ name, type }: GraphQLArgument | GraphQLInputField): boolean =>
  name === 'last' || (['after', 'before'].includes(name) && getNamedType(type).name === 'String');

const isWanted = (fill: Fill, input: GraphQLArgument | GraphQLInputField): boolean =>
  (fill === 'all' && !hidesPage(input)) ||
  (isNonNullType(input.type) && input.defaultValue === undefined) ||
  (fill === 'ids' && isId(input)) ||
  input.name === 'includeTest';

const scalars: Readonly<Record<string, unknown>> = {
  Int: 10,
  Float: 1,
  Boolean: true,
  ID: '00000000-0000-4000-8000-000000000000',
  MinorUnits: 100,
  SignedMinorUnits: 100,
  DateTime: '2026-01-01T00:00:00.000Z',
  StringMap: {},
  JSONObject: {},
  String: 'anything',
};

/** Texts that must have a form. */
const texts: Readonly<Record<string, string>> = {
  from: '2026-01-01',
  to: '2099-12-31',
  url: 'https://shop.example/hook',
  orderId: 'order-1',
};

const inputValue = (
  writing: Writing,
  name: string,
  type: GraphQLInputType,
  asked: GraphQLNamedType,
): unknown => {
  const bare = isNonNullType(type) ? type.ofType : type;
  if (isListType(bare)) return [inputValue(writing, name, bare.ofType, asked)];
  const known = writing.valueOf(name, asked);
  if (known !== undefined) return known;
  if (Object.hasOwn(texts, name) && getNamedType(bare).name === 'String') return texts[name];
  if (isEnumType(bare)) return bare.getValues()[0]?.name;
  if (!isInputObjectType(bare)) return scalars[getNamedType(bare).name];
  const fields = Object.values(bare.getFields()).filter((field) => isWanted(writing.fill, field));
  return Object.fromEntries(
    fields.map((field) => [field.name, inputValue(writing, field.name, field.type, asked)]),
  );
};

const writeArguments = (writing: Writing, field: GraphQLField<unknown, unknown>): string => {
  const wanted = field.args.filter((argument) => isWanted(writing.fill, argument));
  const written = wanted.map((argument) => {
    const variable = `v${writing.declared.length}`;
    writing.declared.push(`$${variable}: ${String(argument.type)}`);
    writing.variables[variable] = inputValue(
      writing,
      argument.name,
      argument.type,
      getNamedType(field.type),
    );
    return `${argument.name}: $${variable}`;
  });
  return written.length > 0 ? `(${written.join(', ')})` : '';
};

/**
 * A type that is on the way already is only asked for what it holds itself, so that everything
 * comes to an end.
 */
const writeSelection = (
  writing: Writing,
  type: GraphQLCompositeType,
  above: readonly string[],
): string => {
  if (isAbstractType(type)) {
    const members = writing.schema
      .getPossibleTypes(type)
      .map((member) => `... on ${member.name} ${writeSelection(writing, member, above)}`);
    const own = isObjectType(type) || !('getFields' in type) ? [] : Object.values(type.getFields());
    for (const { name } of own) writing.asks.add(`${type.name}.${name}`);
    return `{ __typename ${members.join(' ')} }`;
  }
  const known =
    above.includes(type.name) ||
    (writing.depth === 'first place' && writing.followed.has(type.name));
  writing.followed.add(type.name);
  const fields = Object.values(type.getFields()).filter(
    (field) => !known || !isCompositeType(getNamedType(field.type)),
  );
  return `{ __typename ${fields.map((field) => writeField(writing, type, field, [...above, type.name])).join(' ')} }`;
};

// Each field under a name of its own: members of a union may have equal names for different types.
const writeField = (
  writing: Writing,
  type: GraphQLObjectType,
  field: GraphQLField<unknown, unknown>,
  above: readonly string[],
): string => {
  writing.asks.add(`${type.name}.${field.name}`);
  const named = getNamedType(field.type);
  const selection = isCompositeType(named) ? ` ${writeSelection(writing, named, above)}` : '';
  return `${type.name}_${field.name}: ${field.name}${writeArguments(writing, field)}${selection}`;
};

const documents = new WeakMap<GraphQLSchema, Map<string, DocumentNode>>();

/** The same document for the same text, so that it is planned once. Fails when it is not valid. */
const documentOf = (schema: GraphQLSchema, text: string): DocumentNode => {
  const known = documents.getOrInsertComputed(schema, () => new Map<string, DocumentNode>());
  return known.getOrInsertComputed(text, () => {
    const document = parse(text);
    const [mistake] = validate(schema, document);
    if (mistake) throw mistake;
    return document;
  });
};

/** The document of one root field. */
const askAll = (
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  field: GraphQLField<unknown, unknown>,
  asking: Asking,
  followed: Set<string>,
): EveryField => {
  const writing: Writing = {
    ...asking,
    schema,
    followed,
    declared: [],
    variables: {},
    asks: new Set(),
  };
  const body = writeField(writing, type, field, [type.name]);
  const head = writing.declared.length > 0 ? `(${writing.declared.join(', ')})` : '';
  const document = documentOf(schema, `${type.name.toLowerCase()} Every${head} { ${body} }`);
  return {
    root: `${type.name}.${field.name}`,
    document,
    variables: writing.variables,
    asks: writing.asks,
  };
};

/** A document for every field of the root type. */
export const askEverything = (
  schema: GraphQLSchema,
  operation: 'query' | 'mutation' | 'subscription',
  asking: Asking,
): readonly EveryField[] => {
  const type = {
    query: schema.getQueryType(),
    mutation: schema.getMutationType(),
    subscription: schema.getSubscriptionType(),
  }[operation];
  if (!type) throw new Error(`there is no ${operation}`);
  const followed = new Set<string>();
  return Object.values(type.getFields()).map((field) =>
    askAll(schema, type, field, asking, operation === 'mutation' ? followed : new Set()),
  );
};

const fills: readonly Fill[] = ['all', 'ids', 'required'];

/** The same with each way to fill arguments in; what is equal in two of them comes once. */
export const askInEveryFill = (
  schema: GraphQLSchema,
  operation: 'query' | 'mutation' | 'subscription',
  asking: Omit<Asking, 'fill'>,
): readonly EveryField[] => {
  const asked = new Map<string, EveryField>();
  for (const fill of fills)
    for (const query of askEverything(schema, operation, { ...asking, fill }))
      asked.getOrInsert(
        `${query.document.loc?.source.body} ${JSON.stringify(query.variables)}`,
        query,
      );
  return [...asked.values()];
};

/** `Type.field` of everything that a client could ask for. */
export const allFields = (schema: GraphQLSchema): ReadonlySet<string> => {
  const types = Object.values(schema.getTypeMap()).filter((type) => !type.name.startsWith('__'));
  return new Set(
    types.flatMap((type) =>
      isCompositeType(type) && 'getFields' in type
        ? Object.keys(type.getFields()).map((name) => `${type.name}.${name}`)
        : [],
    ),
  );
};
