/** How large a document of a client may be. What runs has been counted with its fragments expanded, so that spreading one often gains nothing. */
import { GraphQLError, Kind, type SelectionNode, type SelectionSetNode, type ValidationContext, type ValidationRule } from 'graphql';

/** Of a request's body, or of one message over a socket. */
export const document_bytes_max = 262_144;
export const documentTokens_max = 5_000;
/** Introspection as clients ask for it is exactly this deep. */
export const documentDepth_max = 15;
export const documentFields_max = 1_000;
/** Fields of the operation itself: each may be a mutation, or a read of a whole registry. */
export const documentRootFields_max = 20;

interface Size {
  readonly depth: number;
  readonly fields: number;
  /** Fields that stand directly in the selection. */
  readonly top: number;
}
const nothing: Size = { depth: 0, fields: 0, top: 0 };

/** A validation rule: refuses an operation that is deeper or has more fields than the limits allow. */
export const limitDocument: ValidationRule = (context) => {
  const sizeOf = measureIn(context);
  return {
    OperationDefinition: (operation) => {
      const { depth, fields, top } = sizeOf(operation.selectionSet);
      const over = (what: string, has: number, most: number): void => {
        if (has > most) context.reportError(new GraphQLError(`The operation has ${what} ${has}; at most ${most} is allowed.`, { nodes: operation }));
      };
      over('the depth', depth, documentDepth_max);
      over('a number of fields of', fields, documentFields_max);
      over('a number of root fields of', top, documentRootFields_max);
    },
  };
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
        const { depth, fields } = selection.selectionSet ? sizeOf(selection.selectionSet) : nothing;
        return { depth: depth + 1, fields: fields + 1, top: 1 };
      }
    }
  };
  const sizeOf = ({ selections }: SelectionSetNode): Size =>
    selections
      .map(sizeOfSelection)
      .reduce((whole, part) => ({ depth: Math.max(whole.depth, part.depth), fields: whole.fields + part.fields, top: whole.top + part.top }), nothing);
  return sizeOf;
};
