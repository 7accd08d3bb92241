/** Reads by a schema what another process sent. */
import { custom, getDotPath, safeParse, type GenericSchema } from 'valibot';

/** An object, whatever its fields. */
export const fields = custom<Readonly<Record<string, unknown>>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

/**
 * The message of `sender`, parsed by its schema. Throws an error that names what was expected and
 * where; the actual value may be private, and is not repeated.
 */
export const readAs = <Output>(
  schema: GenericSchema<unknown, Output>,
  value: unknown,
  sender: string,
): Output => {
  const { success, output, issues } = safeParse(schema, value, { abortEarly: true });
  if (success) return output;
  const [issue] = issues;
  const place = getDotPath(issue) ?? 'its message';
  throw new Error(`${sender}: expected ${issue.expected ?? issue.type} in ${place}`);
};
