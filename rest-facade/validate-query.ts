/** Query strings against the contract: decision D-04 (unknown parameters), D-06 (messages), D-12 (`from` after `to`). */
import { compileSchema } from './compile-schema.ts';
import type { Parameter, Schema } from './read-contract.ts';
import { camelCase } from './validate-body.ts';

type Values = Readonly<Record<string, unknown>>;

export type ReadQuery = { readonly query: Record<string, unknown> } | { readonly mistake: string };

/** A text as the schema's type, where it is one; else as it is, for validation to refuse. */
const typed = (text: string, schema: Schema): unknown => {
  if (schema.type === 'integer') return /^(?:0|[1-9]\d{0,8})$/.test(text) ? Number(text) : text;
  return schema.type === 'array' ? text.split(',') : text;
};

const unusable = (text: string): boolean => text.includes('\0') || !text.isWellFormed();

/** Compiles the query's rules. The reader gives the parameters with GraphQL's names and the contract's defaults, or what is wrong. */
export const compileQuery = (parameters: readonly Parameter[]): ((values: Values) => ReadQuery) => {
  const known = parameters.filter((parameter) => parameter.in === 'query');
  const rules = known.map(({ name, schema }) => ({ name, schema, camel: camelCase(name), check: compileSchema(schema, name) }));
  const names = new Set(known.map(({ name }) => name));
  return (values) => {
    for (const name in values) if (!names.has(name)) return { mistake: unknownParameter(name, names) };
    const query: Record<string, unknown> = {};
    for (const { name, schema, camel, check } of rules) {
      const text = values[name];
      if (text === undefined) {
        if (schema.default !== undefined) query[camel] = schema.default;
        continue;
      }
      if (typeof text !== 'string') return { mistake: `${name}: expected once, got several` };
      if (unusable(text)) return { mistake: `${name}: not a valid text` };
      const value = typed(text, schema);
      const mistake = check(value);
      if (mistake !== null) return { mistake: mistake.startsWith('[') ? `${name}${mistake}` : mistake };
      query[camel] = value;
    }
    const { from, to } = query;
    if (typeof from === 'string' && typeof to === 'string' && from > to) return { mistake: `from: expected a day not after to (${to}), got "${from}"` };
    return { query };
  };
};

const unknownParameter = (name: string, known: ReadonlySet<string>): string => {
  const shown = /^[\w.-]{1,40}$/.test(name) && !/\d{6}|sk_|thm_|whs_/.test(name) ? name : 'a parameter';
  return `${shown}: unknown query parameter, expected ${[...known].join(', ') || 'none'}`;
};
