/**
 * Compiles the schemas of the OpenAPI description, each once. Values are not coerced; every mistake
 * is reported.
 */
import {
  Ajv2020,
  type ErrorObject,
  type FuncKeywordDefinition,
  type Options,
  type ValidateFunction,
} from 'ajv/dist/2020.js';
import { isCurrency } from '../schema/currencies.ts';
import { fieldMistakes_max, type FieldMistake } from '../subgraphs/kernel/rules/refusal.ts';
import { describeMistake } from './describe-mistake.ts';
import type { Schema } from './read-contract.ts';

/** A day that exists and that a record can hold. */
const isDay = (text: string): boolean => {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text < '0001-01-01') return false;
  try {
    return Temporal.PlainDate.from(text).toString() === text;
  } catch {
    return false;
  }
};

/** A moment as the graph takes it, in a year of four digits. */
const isInstant = (text: string): boolean => {
  try {
    return /^\d{4}-/.test(text) && Boolean(Temporal.Instant.from(text));
  } catch {
    return false;
  }
};

const options: Options = {
  verbose: true,
  strictTypes: false,
  formats: {
    int32: true,
    int64: true,
    double: true,
    uuid: true,
    'date-time': isInstant,
    date: isDay,
    uri: (text: string) => URL.canParse(text) && !/\s/.test(text),
    email: /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/,
    'iso-4217': isCurrency,
  },
};
const words = ['example', 'x-default', 'x-expected'];
/** Of several fields one is required. Not `anyOf`, of which generators make a type of anything. */
const needsOne: FuncKeywordDefinition = {
  keyword: 'x-needs-one',
  type: 'object',
  schemaType: 'array',
  validate: (names: readonly string[], data: object) => names.some((name) => name in data),
};
const open = (more: Options): Ajv2020 =>
  new Ajv2020({ ...options, ...more }).addVocabulary(words).addKeyword(needsOne);
const ajv = open({});
/** Finds every mistake, which takes longer. */
const ajvAll = open({ allErrors: true });

/** What is wrong with a value, each field once and the first mistake first; nothing if it fits. */
export type Check = (value: unknown) => readonly FieldMistake[];

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
 * schema, and throws if it cannot be compiled: most schemas are rarely used. Only an invalid value
 * is searched for all mistakes.
 */
export const compileSchema = (schema: Schema, root: string): Check => {
  let compiled: ValidateFunction | null = null;
  let compiledAll: ValidateFunction | null = null;
  return (value) => {
    const validate = (compiled ??= ajv.compile(schema));
    if (validate(value)) return [];
    const first = validate.errors?.slice(-1) ?? [];
    const validateAll = (compiledAll ??= ajvAll.compile(schema));
    validateAll(value);
    return described([...first, ...(validateAll.errors ?? [])], root);
  };
};
