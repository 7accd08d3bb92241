/** Fragments of a document, by their names, and the fields behind them. */
import {
  Kind,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type InlineFragmentNode,
  type SelectionSetNode,
  BREAK,
  visit,
  type ASTNode,
} from 'graphql';

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

export const fragmentsOf = ({ definitions }: DocumentNode): Fragments =>
  new Map(
    definitions
      .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );

/** What an inline fragment or a spread stands for. */
export const fragmentBehind = (
  selection: FragmentSpreadNode | InlineFragmentNode,
  fragments: Fragments,
): FragmentDefinitionNode | InlineFragmentNode | undefined =>
  selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments.get(selection.name.value);

/** The fields of a selection, those of its fragments among them, each as often as it is selected. */
export const fieldsIn = (
  { selections }: SelectionSetNode,
  fragments: Fragments,
): readonly FieldNode[] =>
  selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection];
    const inside = fragmentBehind(selection, fragments);
    return inside ? fieldsIn(inside.selectionSet, fragments) : [];
  });

/** Whether any field of a document, or of a part of it, fits. */
export const hasField = (node: ASTNode, fits: (field: FieldNode) => boolean): boolean => {
  let found = false;
  visit(node, {
    Field: (field) => {
      found ||= fits(field);
      return found ? BREAK : undefined;
    },
  });
  return found;
};
