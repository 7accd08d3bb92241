/** How a message of another process is read. */
import * as v from 'valibot';

/** An object, whatever its fields. */
export const fields = v.custom<Readonly<Record<string, unknown>>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

/**
 * The message of `sender`, parsed by its schema. Throws an error that names what was expected and
 * where; the actual value may be private, and is not repeated.
 */
export const readAs = <Output>(
  schema: v.GenericSchema<unknown, Output>,
  value: unknown,
  sender: string,
): Output => {
  const { success, output, issues } = v.safeParse(schema, value, { abortEarly: true });
  if (success) return output;
  const [issue] = issues;
  const at = v.getDotPath(issue) ?? 'its message';
  throw new Error(`${sender}: expected ${issue.expected ?? issue.type} in ${at}`);
};
