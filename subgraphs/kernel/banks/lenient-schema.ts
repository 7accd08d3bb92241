/**
 * Schemas of banks' answers. Banks add, drop and change fields without notice: necessary fields are
 * required, and everything else is null when it is absent or unreadable.
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

/** An object whose fields all have a fallback: an absent object counts as empty. */
export const part = <Entries extends ObjectEntries>(entries: Entries) => {
  const schema = object(entries);
  return fallback(schema, parse(schema, {}));
};
