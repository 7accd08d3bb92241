/**
 * Validates bodies by the OpenAPI description. A null in an optional field counts as absent,
 * because typed clients send it so; null stays where the description gives it a meaning.
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { nameOf } from '../gateway/graphql/raw-body.ts';
import { isCurrency } from '../schema/currencies.ts';
import { readInstant } from '../schema/scalars.ts';
import { isUuid } from '../subgraphs/rules/ids.ts';
import { fieldMistakes_max, type FieldMistake, repeatable } from '../subgraphs/rules/refusal.ts';
import type { Schema } from './read-contract.ts';

/*
 * Compiles the schemas of the OpenAPI description, each once. Values are not coerced; every mistake
 * is reported.
 */

/** A day that exists and that a record can hold. */
const isDay = (text: string): boolean => {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text < '0001-01-01') return false;
  try {
    return Temporal.PlainDate.from(text).toString() === text;
  } catch {
    return false;
  }
};

/** A moment as the graph takes it. */
const isInstant = (text: string): boolean => readInstant(text) !== null;

/** Finds every mistake of a value, the first one first. */
const ajv = new Ajv2020({
  allErrors: true,
  verbose: true,
  strictTypes: false,
  formats: {
    int32: true,
    int64: true,
    double: true,
    uuid: isUuid,
    'date-time': isInstant,
    date: isDay,
    uri: (text: string) => URL.canParse(text) && !/\s/.test(text),
    email: /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/,
    'iso-4217': isCurrency,
  },
});
ajv.addVocabulary(['example', 'x-default', 'x-expected']);
/** Of several fields one is required. Not `anyOf`, of which generators make a type of anything. */
ajv.addKeyword({
  keyword: 'x-needs-one',
  type: 'object',
  schemaType: 'array',
  validate: (names: readonly string[], data: object) => names.some((name) => name in data),
});

/** What is wrong with a value, each field once and the first mistake first; nothing if it fits. */
type Check = (value: unknown) => readonly FieldMistake[];

// A 400 names the field, what was expected and what came; never a card number or a secret.

/** `/items/3/amount` as `items[3].amount`. */
const pathOf = (pointer: string, root: string): string =>
  root +
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((step, place) =>
      /^\d+$/.test(step) && repeatable(step)
        ? `[${step}]`
        : `${place === 0 && root === '' ? '' : '.'}${nameOf(step)}`,
    )
    .join('');

const number = (source: string): string =>
  repeatable(source) ? source : `a number of ${source.length} characters`;

/** A description of the received value. `secret` omits the value itself. */
const came = (value: unknown, secret: boolean): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object') return `an object of ${Object.keys(value).length}`;
  if (typeof value === 'string')
    return !secret && repeatable(value)
      ? JSON.stringify(value)
      : `a string of ${Array.from(value).length} characters`;
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'symbol' && typeof value !== 'number') return typeof value;
  // A symbol is a number that is not written as a safe integer, or says why no record can hold a
  // text (`readBody`).
  const written = typeof value === 'symbol' ? (value.description ?? '') : String(value);
  if (!/^-?\d/.test(written)) return written;
  return secret ? 'a number' : number(written);
};

const range = (min: number | undefined, max: number | undefined): string => {
  if (max === undefined) return min ? `${min} or more ` : '';
  return min ? `${min} to ${max} ` : `up to ${max} `;
};

const formats: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  uri: 'an address',
  email: 'an e-mail address',
  date: 'a calendar day, YYYY-MM-DD',
  'date-time': 'a moment such as 2026-05-06T10:00:00Z',
  'iso-4217': 'an ISO 4217 currency code',
};

const expectedString = (schema: Schema): string => {
  const format = schema.format && formats[schema.format];
  if (format) return format;
  const length = range(schema.minLength, schema.maxLength);
  return length ? `a string of ${length}characters` : 'a string';
};

const expectedOf: Readonly<Record<string, (schema: Schema) => string>> = {
  integer: ({ minimum = -Number.MAX_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER }) =>
    `an integer from ${minimum} to ${maximum}`,
  array: ({ minItems, maxItems }) => `an array of ${range(minItems, maxItems)}items`,
  object: () => 'an object',
  string: expectedString,
  boolean: () => 'true or false',
  null: () => 'null',
};

/** A description of what a schema expects. */
const expected = (schema: Schema): string => {
  if (schema['x-expected']) return schema['x-expected'];
  if (schema.enum)
    return schema.enum.length === 1 ? String(schema.enum[0]) : `one of ${schema.enum.join(', ')}`;
  const types = [schema.type ?? 'value'].flat();
  return types.map((type) => expectedOf[type]?.(schema) ?? `a ${type}`).join(' or ');
};

const under = (path: string, name: string): string =>
  path === '' ? nameOf(name) : `${path}.${nameOf(name)}`;

/** One mistake that the validator found. `root` is the path of what was validated. */
const describeMistake = (error: ErrorObject, root: string): FieldMistake => {
  const path = pathOf(error.instancePath, root);
  // The validator runs in verbose mode: the schema at fault and its value come with each error.
  const schema = (error.parentSchema ?? {}) as Schema;
  switch (error.keyword) {
    case 'required': {
      const name = String(error.params['missingProperty']);
      const missing = schema.properties?.[name];
      const wanted = missing ? expected(missing) : 'a value';
      return { path: under(path, name), message: `required, expected ${wanted}, got nothing` };
    }
    case 'additionalProperties': {
      const known = Object.keys(schema.properties ?? {}).join(', ') || 'none';
      const name = String(error.params['additionalProperty']);
      return { path: under(path, name), message: `unknown field, expected ${known}` };
    }
    case 'propertyNames':
      return { path, message: 'expected names of 1 to 128 characters' };
    default: {
      const got = came(error.data, schema.writeOnly ?? false);
      // Of an address that is too long, the words for its form say nothing about its length.
      const { 'x-expected': _words, format: _format, ...lengths } = schema;
      const broken = error.keyword === 'maxLength' ? lengths : schema;
      return { path, message: `expected ${expected(broken)}, got ${got}` };
    }
  }
};

/** The mistakes found by the validators, at most as many as one refusal lists. */
const described = (errors: readonly ErrorObject[], root: string): readonly FieldMistake[] => {
  const byPath = new Map<string, FieldMistake>();
  for (const error of errors) {
    // Of a name that does not fit, the rule about names tells it better.
    if (error.propertyName !== undefined) continue;
    const mistake = describeMistake(error, root);
    if (!byPath.has(mistake.path)) byPath.set(mistake.path, mistake);
    if (byPath.size === fieldMistakes_max) break;
  }
  return [...byPath.values()];
};

/**
 * A check by a schema; `root` is the path of the validated value. The first value compiles the
 * schema, and throws if it cannot be compiled: most schemas are rarely used.
 */
export const compileSchema = (schema: Schema, root: string): Check => {
  let compiled: ValidateFunction | null = null;
  return (value) => {
    const validate = (compiled ??= ajv.compile(schema));
    return validate(value) ? [] : described(validate.errors ?? [], root);
  };
};

type Fields = Readonly<Record<string, unknown>>;

interface BodyRules {
  /**
   * The body without optional fields that are null. Values that are not objects, and unknown
   * fields, stay as they are.
   */
  meant(body: unknown): unknown;
  /** The mistakes of a body; none if it is valid. */
  readonly check: Check;
  /** A valid body with GraphQL's field names and with defaults. */
  shape(body: Fields): Record<string, unknown>;
}

/** `return_url` as `returnUrl`. */
export const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether null means something of its own in the field: `uses` of a link. */
const isNullable = ({ type }: Schema): boolean => Array.isArray(type) && type.includes('null');

/**
 * Renames the fields of an object; an object without named fields (metadata) is the merchant's own
 * and stays as it is.
 */
const compileShape = (schema: Schema): ((body: Fields) => Record<string, unknown>) => {
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const fallback = field['x-default'];
    const nullable = isNullable(field);
    return { name, camel: camelCase(name), fallback, inner: compileInner(field), nullable };
  });
  return (body) => {
    const shaped: Record<string, unknown> = {};
    for (const { name, camel, fallback, inner, nullable } of fields) {
      const value = nullable && body[name] === null ? null : (body[name] ?? fallback);
      if (value !== undefined) shaped[camel] = inner(value);
    }
    return shaped;
  };
};

/** The same for what a field holds: an object with named fields, a list of such, or a value. */
const compileInner = ({ items, properties, ...schema }: Schema): ((value: unknown) => unknown) => {
  if (items?.properties) {
    const item = compileShape(items);
    return (value) => (Array.isArray(value) ? value.map(item) : value);
  }
  if (!properties) return (value) => value;
  const shape = compileShape({ ...schema, properties });
  return (value) => (isObject(value) ? shape(value) : value);
};

const compileMeant = ({ properties = {}, required = [] }: Schema): ((body: unknown) => unknown) => {
  const optional = new Set(
    Object.entries(properties)
      .filter(([name, field]) => !required.includes(name) && !isNullable(field))
      .map(([name]) => name),
  );
  const inner = new Map(
    Object.entries(properties).flatMap(([name, field]) => {
      const schema = field.items ?? field;
      return schema.properties ? [[name, compileMeant(schema)] as const] : [];
    }),
  );
  return (body) => {
    if (!isObject(body)) return body;
    const isPlain = Object.keys(body).every((name) => !inner.has(name));
    if (isPlain && !Object.values(body).includes(null)) return body;
    const fields = Object.entries(body).filter(
      ([name, value]) => value !== null || !optional.has(name),
    );
    const meantInside = (name: string, value: unknown): unknown => {
      const meant = inner.get(name);
      if (!meant) return value;
      return Array.isArray(value) ? value.map(meant) : meant(value);
    };
    return Object.fromEntries(fields.map(([name, value]) => [name, meantInside(name, value)]));
  };
};

const compileOne = (schema: Schema): BodyRules => ({
  meant: compileMeant(schema),
  check: compileSchema(schema, ''),
  shape: compileShape(schema),
});

/** The field whose one value distinguishes a variant from the others: `method` of a payout. */
const tagOf = (variants: readonly Schema[]): string => {
  const tag = Object.keys(variants[0]?.properties ?? {}).find((name) =>
    variants.every((variant) => variant.properties?.[name]?.enum?.length === 1),
  );
  if (!tag) throw new Error('the variants of a body have no field that distinguishes them');
  return tag;
};

/** What several rules of a field have in common; nothing where one of them is missing. */
const sharedRule = (rules: readonly (Schema | undefined)[]): Schema => {
  const shared = Object.entries(rules[0] ?? {}).filter(([keyword, value]) =>
    rules.every(
      (rule) => JSON.stringify(rule?.[keyword as keyof Schema]) === JSON.stringify(value),
    ),
  );
  return Object.fromEntries(shared);
};

/** What holds whichever variant is meant: the rules of the fields that all of them have. */
const commonOf = (variants: readonly Schema[]): Schema => {
  const [first, ...others] = variants;
  const tag = tagOf(variants);
  const names = new Set(variants.flatMap(({ properties = {} }) => Object.keys(properties)));
  // The tag has a check of its own.
  const rule = (name: string): Schema =>
    name === tag ? {} : sharedRule(variants.map(({ properties }) => properties?.[name]));
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(Array.from(names, (name) => [name, rule(name)])),
    required: (first?.required ?? []).filter(
      (name) => name !== tag && others.every(({ required }) => required?.includes(name)),
    ),
  };
};

/**
 * Variants are distinguished by their tag first, so that a mistake is one of the variant that was
 * meant.
 */
const compileVariants = (variants: readonly Schema[]): BodyRules => {
  const tag = tagOf(variants);
  const byTag = new Map(
    variants.map((variant) => [variant.properties?.[tag]?.enum?.[0], compileOne(variant)]),
  );
  const fallback = variants.find((variant) => !variant.required?.includes(tag))?.properties?.[
    tag
  ]?.['x-default'];
  const asAny = compileOne({
    type: 'object',
    properties: { [tag]: { type: 'string', enum: [...byTag.keys()] } },
    required: fallback === undefined ? [tag] : [],
  });
  const common = compileOne(commonOf(variants));
  const variantOf = (body: unknown): BodyRules =>
    (isObject(body) ? byTag.get(body[tag] ?? fallback) : undefined) ?? asAny;
  return {
    meant: (body) => variantOf(body).meant(body),
    check: (body) => {
      const mistakes = asAny.check(body);
      return mistakes.length === 0
        ? variantOf(body).check(body)
        : [...mistakes, ...(isObject(body) ? common.check(common.meant(body)) : [])];
    },
    shape: (body) => variantOf(body).shape(body),
  };
};

const noFields: Schema = { type: 'object', additionalProperties: false, properties: {} };

/**
 * Compiles the rules of a body; null when the route has none, and then only an empty object fits.
 */
export const compileBody = (schema: Schema | null): BodyRules => {
  const variants = schema?.anyOf ?? schema?.oneOf;
  return variants ? compileVariants(variants) : compileOne(schema ?? noFields);
};
