/**
 * GraphQL documents from a schema, as a careless reader of it writes them: mostly valid,
 * with arguments of right and wrong types.
 */
import fc from 'fast-check';
import {
  getNamedType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLSchema,
} from 'graphql';
import { oddJson, oddText } from './odd-values.ts';

export interface Asking {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** The root that is asked. */
export type Operation = 'query' | 'mutation';

/** An id for an argument of this name, of those that exist. */
export type IdsOf = (argument: string) => readonly string[];

const deepest = 5;

/** What keys of entities are called: an alias of such a name must never be taken for a key. */
const keyNames = ['id', 'merchantId', '__typename', 'representations', '_entities'];
const one_in = (odds: number): fc.Arbitrary<boolean> =>
  fc.nat({ max: odds - 1 }).map((n) => n === 0);

const days = fc.constantFrom('2026-11-01', '2026-11-21', '2027-01-01');
const moments = fc.constantFrom(
  '2026-11-21T10:00:00.000Z',
  '2026-11-22T00:00:00Z',
  '1970-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
);
const texts: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  from: days,
  to: days,
  url: fc.constant('https://shop.example/hook'),
  currency: fc.constantFrom('RUB', 'USD'),
  phone: fc.constant('+79161234567'),
  bankId: fc.constant('100000000111'),
};
const scalars: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  Int: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 20 }) },
    { weight: 1, arbitrary: fc.integer() },
  ),
  Float: fc.double({ noNaN: true, noDefaultInfinity: true }),
  Boolean: fc.boolean(),
  MinorUnits: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 9_999 }) },
    { weight: 1, arbitrary: fc.constantFrom(2 ** 53 - 1, 2 ** 31) },
  ),
  SignedMinorUnits: fc.oneof(
    { weight: 3, arbitrary: fc.integer() },
    { weight: 1, arbitrary: fc.maxSafeInteger() },
  ),
  DateTime: moments,
  StringMap: fc.dictionary(fc.string({ maxLength: 9 }), oddText, { maxKeys: 3 }),
  JSONObject: fc.dictionary(fc.string({ maxLength: 9 }), fc.jsonValue(), { maxKeys: 3 }),
  String: fc.oneof(fc.string({ minLength: 1, maxLength: 20 }), oddText),
};

/** One document while it is written. */
class Writing {
  readonly #pick: fc.GeneratorValue;
  readonly #schema: GraphQLSchema;
  readonly #idsOf: IdsOf;
  readonly #declared: string[] = [];
  readonly #fragments: string[] = [];
  readonly #variables: Record<string, unknown> = {};

  constructor(pick: fc.GeneratorValue, schema: GraphQLSchema, idsOf: IdsOf) {
    this.#pick = pick;
    this.#schema = schema;
    this.#idsOf = idsOf;
  }

  document(operation: Operation): Asking {
    const type =
      operation === 'query' ? this.#schema.getQueryType() : this.#schema.getMutationType();
    if (!type) throw new Error(`there is no ${operation}`);
    const body = this.#selection(type, 1);
    const head = this.#declared.length > 0 ? `(${this.#declared.join(', ')})` : '';
    // Sometimes one that was declared does not come, or one comes that was not.
    const names = Object.keys(this.#variables);
    const [first] = names;
    if (first !== undefined && this.#chance(15)) delete this.#variables[first];
    if (this.#chance(15)) this.#variables['unasked'] = this.#pick(() => oddJson);
    return {
      query: `${operation} Fuzz${head} ${body}\n${this.#fragments.join('\n')}`,
      variables: this.#variables,
    };
  }

  #chance(odds: number): boolean {
    return this.#pick(one_in, odds);
  }

  #among<Item>(items: readonly Item[]): Item {
    const item = items[this.#pick(fc.nat, { max: Math.max(items.length - 1, 0) })];
    if (item === undefined) throw new Error('nothing to choose from');
    return item;
  }

  #selection(type: GraphQLCompositeType, depth: number): string {
    if (isAbstractType(type)) {
      const members = this.#schema
        .getPossibleTypes(type)
        .map((member) => `... on ${member.name} ${this.#selection(member, depth)}`);
      return `{ __typename ${members.join(' ')} }`;
    }
    const fields = Object.values(type.getFields()).filter(
      (field) => depth < deepest || !isCompositeType(getNamedType(field.type)),
    );
    if (fields.length === 0) return '{ __typename }';
    const wanted = Array.from(
      { length: depth === 1 ? 1 : this.#pick(fc.integer, { min: 1, max: 4 }) },
      () => this.#among(fields),
    );
    const taken = new Set(wanted.map(({ name }) => name));
    const body = `{ ${this.#chance(2) ? '__typename ' : ''}${wanted.map((field) => this.#field(field, depth, taken)).join(' ')} }`;
    if (depth === 1 || !this.#chance(8)) return body;
    if (this.#chance(2)) return `{ ... on ${type.name} @include(if: true) ${body} }`;
    const name = `F${this.#fragments.length}`;
    this.#fragments.push(`fragment ${name} on ${type.name} ${body}`);
    return `{ ...${name} }`;
  }

  /**
   * Under a name of its own, so that one field may come twice with different arguments; `taken` are
   * the response names of its selection.
   */
  #field(field: GraphQLField<unknown, unknown>, depth: number, taken: Set<string>): string {
    const named = getNamedType(field.type);
    const given = field.args
      .filter((argument) => this.#isGiven(argument))
      .map((argument) => `${argument.name}: ${this.#argument(argument)}`);
    const selection = isCompositeType(named) ? ` ${this.#selection(named, depth + 1)}` : '';
    const alias = this.#chance(3) || given.length > 0 ? `${this.#alias(taken)}: ` : '';
    return `${alias}${field.name}${given.length > 0 ? `(${given.join(', ')})` : ''}${selection}`;
  }

  #alias(taken: Set<string>): string {
    const name = this.#chance(2)
      ? this.#among(keyNames)
      : `a${this.#pick(fc.nat, { max: 1_000_000 })}`;
    if (taken.has(name)) return `a${this.#pick(fc.nat, { max: 1_000_000 })}`;
    taken.add(name);
    return name;
  }

  #isGiven(input: GraphQLArgument | GraphQLInputField): boolean {
    return isNonNullType(input.type) && input.defaultValue === undefined
      ? !this.#chance(40)
      : this.#chance(2);
  }

  #argument({ name, type }: GraphQLArgument): string {
    const value = this.#value(name, type);
    if (this.#chance(3)) return literal(type, value);
    const variable = `v${this.#declared.length}`;
    this.#declared.push(`$${variable}: ${this.#chance(40) ? 'String' : String(type)}`);
    this.#variables[variable] = value;
    return `$${variable}`;
  }

  #value(name: string, type: GraphQLInputType): unknown {
    if (this.#chance(25)) return this.#pick(() => oddJson);
    const bare = isNonNullType(type) ? type.ofType : type;
    if (isListType(bare))
      return Array.from({ length: this.#pick(fc.nat, { max: 3 }) }, () =>
        this.#value(name, bare.ofType),
      );
    if (isEnumType(bare)) return this.#among(bare.getValues()).name;
    if (isInputObjectType(bare)) {
      const fields = Object.values(bare.getFields()).filter((field) => this.#isGiven(field));
      return Object.fromEntries(
        fields.map((field) => [field.name, this.#value(field.name, field.type)]),
      );
    }
    const named = getNamedType(bare).name;
    const ids = this.#idsOf(name);
    if (named === 'ID')
      return ids.length === 0 || this.#chance(8)
        ? this.#pick(() => fc.oneof(fc.uuid(), oddText))
        : this.#among(ids);
    const known = named === 'String' && !this.#chance(4) ? texts[name] : undefined;
    return this.#pick(() => known ?? scalars[named] ?? oddJson);
  }
}

/**
 * A value in the document itself. Names that cannot stand there make it no document, which is as
 * good a question.
 */
const literal = (type: GraphQLInputType, value: unknown): string => {
  const bare = isNonNullType(type) ? type.ofType : type;
  if (Array.isArray(value))
    return `[${value.map((item) => literal(isListType(bare) ? bare.ofType : bare, item)).join(', ')}]`;
  if (typeof value === 'string')
    return isEnumType(bare) && /^\w+$/.test(value) ? value : JSON.stringify(value);
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value))
    return JSON.stringify(value) ?? 'null';
  const fields = isInputObjectType(bare) ? bare.getFields() : {};
  return `{${Object.entries(value)
    .map(([name, item]) => `${name}: ${literal(fields[name]?.type ?? bare, item)}`)
    .join(', ')}}`;
};

/** Documents for one root of the schema. `idsOf` gives the ids that exist. */
export const documents = (
  schema: GraphQLSchema,
  operation: Operation,
  idsOf: IdsOf,
): fc.Arbitrary<Asking> =>
  fc.gen().map((pick) => new Writing(pick, schema, idsOf).document(operation));
