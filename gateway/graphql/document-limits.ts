/**
 * How large a document of a client may be. What runs has been counted with its fragments expanded,
 * so that spreading one often gains nothing.
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

/** Of a request's body, or of one message over a socket. */
export const document_bytes_max = 262_144;
export const documentTokens_max = 5_000;
/** Introspection as clients ask for it is exactly this deep. */
export const documentDepth_max = 15;
export const documentFields_max = 1_000;
/**
 * Lists and objects in one another in a value that the document writes out. The planner's time
 * doubles with each list, so that fifty of them would end it.
 */
export const documentValueDepth_max = 8;
/**
 * Lists and objects in one another in a value of the variables. What reads and writes them calls
 * itself for each.
 */
const variableDepth_max = 32;
/** Fields of the operation itself: each may be a mutation, or a read of a whole registry. */
export const documentRootFields_max = 20;
/** Fields under another name: with them one field can be asked for again and again. */
export const documentAliases_max = 50;

/** The refusal of a document over a limit, with the numbers for whoever reads it by program. */
export const exceeded = (what: string, has: number, most: number, node: ASTNode): GraphQLError =>
  new GraphQLError(`The operation has ${what} of ${has}; at most ${most} is allowed.`, {
    nodes: node,
    extensions: { code: 'query_too_complex', exceeded: { has, most }, http: { status: 400 } },
  });

/**
 * Why variables are not read; null when they may be. Walks level by level: a value may be deeper
 * than calls can be.
 */
export const tooDeep = (variables: Readonly<Record<string, unknown>>): GraphQLError | null => {
  let level: readonly object[] = Object.values(variables).filter(isComposite);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > variableDepth_max) {
      return new GraphQLError(
        `A variable has lists and objects more than ${variableDepth_max} deep in one another.`,
        {
          extensions: { code: 'bad_request', http: { status: 400 } },
        },
      );
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
  /** Fields that stand directly in the selection. */
  readonly top: number;
}
const nothing: Size = { depth: 0, fields: 0, aliases: 0, top: 0 };

/**
 * A validation rule: refuses an operation that is deeper, in its fields or in a value, or has more
 * fields or aliases than the limits allow.
 */
export const limitDocument: ValidationRule = (context) => {
  const sizeOf = measureIn(context);
  const limitValue = (value: ValueNode): false => {
    const depth = valueDepth(value);
    if (depth > documentValueDepth_max)
      context.reportError(exceeded('a depth of values', depth, documentValueDepth_max, value));
    // What stands in it has been measured with it.
    return false;
  };
  return {
    ListValue: limitValue,
    ObjectValue: limitValue,
    OperationDefinition: (operation) => {
      const { depth, fields, aliases, top } = sizeOf(operation.selectionSet);
      const limit = (what: string, has: number, most: number): void => {
        if (has > most) context.reportError(exceeded(what, has, most, operation));
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

/** Measures selections; a fragment is measured once, however often it is spread. */
const measureIn = (context: ValidationContext): ((selectionSet: SelectionSetNode) => Size) => {
  const fragments = new Map<string, Size>();
  const sizeOfFragment = (name: string): Size => {
    const known = fragments.get(name);
    if (known) return known;
    // A fragment that spreads itself is refused by another rule; here it only must come to an end.
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
