/**
 * Schemas of banks' answers. Banks add, drop and change fields without notice: what an answer must
 * have is required, and everything else is null when it is absent or cannot be read.
 */
import {
  fallback,
  nonEmpty,
  nullable,
  object,
  parse,
  pipe,
  string,
  type GenericSchema,
  type ObjectEntries,
} from 'valibot';

/** A text that is not empty. */
export const text = pipe(string(), nonEmpty());

/** A field that is null when it is absent or is no `schema`. */
export const orNull = <Schema extends GenericSchema>(schema: Schema) =>
  fallback(nullable(schema), null);

/** An object whose fields all have a fallback: one that is absent is as if it were empty. */
export const part = <Entries extends ObjectEntries>(entries: Entries) => {
  const schema = object(entries);
  return fallback(schema, parse(schema, {}));
};
