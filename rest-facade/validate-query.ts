/** Validates query strings: unknown parameters, values, and bounds that contradict each other. */
import type { FieldMistake } from '../subgraphs/kernel/rules/refusal.ts';
import { compileSchema } from './compile-schema.ts';
import type { Parameter, Schema } from './read-contract.ts';
import { camelCase } from './validate-body.ts';

type Values = Readonly<Record<string, unknown>>;

export type ReadQuery =
  | { readonly query: Record<string, unknown> }
  | { readonly mistakes: readonly FieldMistake[] };

/** A text as the schema's type, where it is one; else as it is, for validation to refuse. */
const typed = (text: string, schema: Schema): unknown => {
  if (schema.type !== 'integer') return text;
  return /^(?:0|[1-9]\d{0,8})$/.test(text) ? Number(text) : text;
};

const unusable = (text: string): boolean => text.includes('\0') || !text.isWellFormed();

/** The value of a parameter that was sent, as its schema takes it; or what is wrong with it. */
const readValue = (
  sent: unknown,
  { name, schema }: Parameter,
): { readonly value: unknown } | FieldMistake => {
  const texts = [sent].flat().filter((text) => typeof text === 'string');
  if (texts.some(unusable)) return { path: name, message: 'not a valid text' };
  // Clients write a list with commas, with the parameter once for each value, or with both.
  if (schema.type === 'array') return { value: texts.flatMap((text) => text.split(',')) };
  const [text] = texts;
  if (text === undefined || texts.length > 1)
    return { path: name, message: 'expected once, got several' };
  return { value: typed(text, schema) };
};

/**
 * Compiles the query's rules. The reader gives the parameters with GraphQL's names and the
 * contract's defaults, or what is wrong.
 */
export const compileQuery = (parameters: readonly Parameter[]): ((values: Values) => ReadQuery) => {
  const known = parameters.filter((parameter) => parameter.in === 'query');
  const rules = known.map((parameter) => ({
    parameter,
    camel: camelCase(parameter.name),
    check: compileSchema(parameter.schema, parameter.name),
  }));
  const names = new Set(known.map(({ name }) => name));
  return (values) => {
    const mistakes = Object.keys(values)
      .filter((name) => !names.has(name))
      .map((name) => unknownParameter(name, names));
    const query: Record<string, unknown> = {};
    for (const { parameter, camel, check } of rules) {
      const { name, schema } = parameter;
      const sent = values[name];
      if (sent === undefined) {
        if (schema.default !== undefined) query[camel] = schema.default;
        continue;
      }
      const read = readValue(sent, parameter);
      if ('value' in read) {
        mistakes.push(...check(read.value));
        query[camel] = read.value;
      } else mistakes.push(read);
    }
    if (!mistakes.some(({ path }) => bounds.has(path))) mistakes.push(...spanMistakes(query));
    return mistakes.length > 0 ? { mistakes } : { query };
  };
};

/** The bounds of a time span: days or moments. */
const bounds: ReadonlySet<string> = new Set(['from', 'to', 'created_from', 'created_to']);

/** Mistakes of valid bounds that contradict each other. */
const spanMistakes = ({ from, to, createdFrom, createdTo }: Values): readonly FieldMistake[] => {
  if ((createdFrom ?? createdTo) !== undefined && (from ?? to) !== undefined) {
    const path = createdFrom === undefined ? 'created_to' : 'created_from';
    const other = from === undefined ? 'to' : 'from';
    return [{ path, message: `not together with ${other}: expected moments or days` }];
  }
  if (typeof from === 'string' && typeof to === 'string' && from > to)
    return [{ path: 'from', message: `expected a day not after to (${to}), got "${from}"` }];
  return typeof createdFrom === 'string' &&
    typeof createdTo === 'string' &&
    Temporal.Instant.compare(createdFrom, createdTo) > 0
    ? [
        {
          path: 'created_from',
          message: `expected a moment not after created_to (${createdTo}), got "${createdFrom}"`,
        },
      ]
    : [];
};

const unknownParameter = (name: string, known: ReadonlySet<string>): FieldMistake => {
  const shown =
    /^[\w.[\]-]{1,40}$/.test(name) && !/\d{6}|sk_|thm_|whs_/.test(name) ? name : 'a parameter';
  const expected = [...known].join(', ') || 'none';
  return { path: shown, message: `unknown query parameter, expected ${expected}` };
};
