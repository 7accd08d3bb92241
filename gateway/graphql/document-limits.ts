/**
 * Limits of clients' documents. Fragments are counted at each spread, so that spreading one often
 * gains nothing.
 */
import {
  GraphQLError,
  Kind,
  type ASTNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
  type ValueNode,
} from 'graphql';
import { codedError } from './errors.ts';

/** For a request's body, or one message over a socket. */
export const document_bytes_max = 262_144;
export const documentTokens_max = 5_000;
/** The usual introspection query is exactly this deep. */
export const documentDepth_max = 15;
export const documentFields_max = 1_000;
/**
 * Nested lists and objects of a literal value. The planner's time doubles with each nested list.
 */
export const documentValueDepth_max = 8;
/** Nested lists and objects of a variable's value. Code that reads and writes them recurses. */
const variableDepth_max = 32;
/** Root fields: each may be a mutation, or a read of a whole registry. */
export const documentRootFields_max = 20;
/** Aliases, with which one field can be selected again and again. */
export const documentAliases_max = 50;

/** The error for a document over a limit. The numbers are also in its extensions. */
export const exceeded = (what: string, actual: number, max: number, node: ASTNode): GraphQLError =>
  new GraphQLError(`The operation has ${what} of ${actual}; at most ${max} is allowed.`, {
    nodes: node,
    extensions: {
      code: 'query_too_complex',
      exceeded: { has: actual, most: max },
      http: { status: 400 },
    },
  });

/**
 * The error for variables that are nested too deeply; null when they are not. Walks level by level,
 * since recursion could overflow the stack.
 */
export const tooDeep = (variables: Readonly<Record<string, unknown>>): GraphQLError | null => {
  let level: readonly object[] = Object.values(variables).filter(isComposite);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > variableDepth_max) {
      const message = `A variable nests lists and objects more than ${variableDepth_max} levels deep.`;
      return codedError('bad_request', message, 400);
    }
    level = level.flatMap((value): readonly object[] => Object.values(value).filter(isComposite));
  }
  return null;
};

const isComposite = (value: unknown): value is object =>
  typeof value === 'object' && value !== null;

interface Size {
  readonly depth: number;
  readonly fields: number;
  readonly aliases: number;
  /** Fields directly in the selection. */
  readonly top: number;
}
const nothing: Size = { depth: 0, fields: 0, aliases: 0, top: 0 };

/**
 * A validation rule that refuses an operation which is nested too deeply, in fields or in a value,
 * or has too many fields or aliases.
 */
export const limitDocument: ValidationRule = (context) => {
  const sizeOf = measureIn(context);
  const limitValue = (value: ValueNode): false => {
    const depth = valueDepth(value);
    if (depth > documentValueDepth_max)
      context.reportError(exceeded('a depth of values', depth, documentValueDepth_max, value));
    // The nested values have been measured with it.
    return false;
  };
  return {
    ListValue: limitValue,
    ObjectValue: limitValue,
    OperationDefinition: (operation) => {
      const { depth, fields, aliases, top } = sizeOf(operation.selectionSet);
      const limit = (what: string, actual: number, max: number): void => {
        if (actual > max) context.reportError(exceeded(what, actual, max, operation));
      };
      limit('a depth', depth, documentDepth_max);
      limit('a number of fields', fields, documentFields_max);
      limit('a number of aliases', aliases, documentAliases_max);
      limit('a number of root fields', top, documentRootFields_max);
    },
  };
};

const valueDepth = (value: ValueNode): number => {
  if (value.kind === Kind.LIST) return 1 + Math.max(0, ...value.values.map(valueDepth));
  if (value.kind === Kind.OBJECT)
    return 1 + Math.max(0, ...value.fields.map((field) => valueDepth(field.value)));
  return 0;
};

/** Measures selections. A fragment is measured once, however often it is spread. */
const measureIn = (context: ValidationContext): ((selectionSet: SelectionSetNode) => Size) => {
  const fragments = new Map<string, Size>();
  const sizeOfFragment = (name: string): Size => {
    const known = fragments.get(name);
    if (known) return known;
    // Another rule refuses a fragment that spreads itself; here the recursion only has to end.
    fragments.set(name, nothing);
    const fragment = context.getFragment(name);
    const size = fragment ? sizeOf(fragment.selectionSet) : nothing;
    fragments.set(name, size);
    return size;
  };
  const sizeOfSelection = (selection: SelectionNode): Size => {
    switch (selection.kind) {
      case Kind.FRAGMENT_SPREAD:
        return sizeOfFragment(selection.name.value);
      case Kind.INLINE_FRAGMENT:
        return sizeOf(selection.selectionSet);
      case Kind.FIELD: {
        const { depth, fields, aliases } = selection.selectionSet
          ? sizeOf(selection.selectionSet)
          : nothing;
        return {
          depth: depth + 1,
          fields: fields + 1,
          aliases: aliases + (selection.alias ? 1 : 0),
          top: 1,
        };
      }
    }
  };
  const sizeOf = ({ selections }: SelectionSetNode): Size =>
    selections.map(sizeOfSelection).reduce(together, nothing);
  return sizeOf;
};

const together = (whole: Size, part: Size): Size => ({
  depth: Math.max(whole.depth, part.depth),
  fields: whole.fields + part.fields,
  aliases: whole.aliases + part.aliases,
  top: whole.top + part.top,
});
