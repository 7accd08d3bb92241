/** Reading PostgreSQL's parse tree as JSON: each node is an object with its type as its one key. */

export type Node = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The node, when it is of this type. */
export const nodeOf = (value: unknown, type: string): Node | undefined => {
  const found = isObject(value) ? value[type] : undefined;
  return isObject(found) ? found : undefined;
};

export const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as unknown[]) : [];

/** The text of a String node. */
export const textOf = (value: unknown): string | undefined => {
  const text = nodeOf(value, 'String')?.['sval'];
  return typeof text === 'string' ? text : undefined;
};

/** A column with the name before its dot, null without. */
export const columnOf = (
  value: unknown,
): { readonly of: string | null; readonly name: string } | null => {
  const fields = listOf(nodeOf(value, 'ColumnRef')?.['fields']).map(textOf);
  const name = fields.at(-1);
  return name === undefined ? null : { of: fields.length > 1 ? (fields[0] ?? null) : null, name };
};

/** Whether it holds for a node anywhere in a tree; lists are not asked. */
export const isAnywhere = (part: unknown, holds: (node: Node) => boolean): boolean => {
  if (Array.isArray(part)) return part.some((one) => isAnywhere(one, holds));
  if (!isObject(part)) return false;
  return holds(part) || Object.values(part).some((one) => isAnywhere(one, holds));
};

/** The name under which a table or a subquery stands in a `from`. */
export const aliasOf = (node: Node | undefined): string | undefined => {
  const name = isObject(node?.['alias']) ? node['alias']['aliasname'] : undefined;
  return typeof name === 'string' ? name : undefined;
};
