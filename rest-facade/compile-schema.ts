/**
 * Compiles the contract's schemas, each once. Nothing is coerced; the first mistake is reported.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { isCurrency } from '../schema/currencies.ts';
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

/** A moment as the graph takes it. */
const isInstant = (text: string): boolean => {
  try {
    return Boolean(Temporal.Instant.from(text));
  } catch {
    return false;
  }
};

const ajv = new Ajv2020({
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
});
ajv.addVocabulary(['example', 'x-default', 'x-expected']);

/** Gives null for a value that fits, else what is wrong with it in words. */
export type Check = (value: unknown) => string | null;

/**
 * A check by a schema; `root` names what it validates in messages. The schema is compiled when the
 * first value comes, and throws then if it cannot be: most of the contract is seldom asked for.
 */
export const compileSchema = (schema: Schema, root: string): Check => {
  let compiled: ValidateFunction | null = null;
  return (value) => {
    const validate = (compiled ??= ajv.compile(schema));
    if (validate(value)) return null;
    const mistake = validate.errors?.at(-1);
    return mistake ? describeMistake(mistake, root) : `${root}: invalid`;
  };
};
