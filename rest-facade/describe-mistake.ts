/** A 400 names the field, what was expected and what came; never a card number or a secret. */
import type { ErrorObject } from 'ajv';
import { nameOf } from '../gateway/graphql/duplicate-field.ts';
import type { FieldMistake } from '../subgraphs/rules/refusal.ts';
import { repeatable } from '../subgraphs/rules/texts.ts';
import type { Schema } from './read-contract.ts';

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
  if (secret) return 'a number';
  // A symbol is a number that is not written as a safe integer (read-request.ts).
  if (typeof value === 'symbol') return number(value.description ?? '');
  return typeof value === 'number' ? number(String(value)) : typeof value;
};

const range = (min: number | undefined, max: number | undefined): string => {
  if (max === undefined) return min ? `${min} or more ` : '';
  return min ? `${min} to ${max} ` : `up to ${max} `;
};

const formats: Readonly<Record<string, string>> = {
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
export const describeMistake = (error: ErrorObject, root: string): FieldMistake => {
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
      return { path, message: `expected ${expected(schema)}, got ${got}` };
    }
  }
};
