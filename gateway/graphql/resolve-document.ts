/**
 * Resolves what the variables of a client's operation decide. The result is a single operation
 * without its name, `@skip` and `@include`, separated from introspection, which no subgraph
 * answers.
 */
import {
  getDirectiveValues,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  Kind,
  visit,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type InlineFragmentNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';

export interface ResolvedDocument {
  /** The part for the subgraphs; null when there is none. */
  readonly planned: DocumentNode | null;
  /** The introspection part; null when there is none. */
  readonly introspection: DocumentNode | null;
  /** The response names of the root, in order. */
  readonly names: readonly string[];
  /**
   * True when its conditions would leave an empty selection, which no planner accepts: `planned`
   * still has them.
   */
  readonly unresolved: boolean;
}

const isCondition = (name: string): boolean =>
  name === GraphQLSkipDirective.name || name === GraphQLIncludeDirective.name;

/** The variables of `@skip` and `@include`. */
export const conditionVariables = (document: DocumentNode): readonly string[] => {
  const names = new Set<string>();
  visit(document, {
    Directive: (directive) => {
      if (!isCondition(directive.name.value)) return;
      for (const { value } of directive.arguments ?? [])
        if (value.kind === Kind.VARIABLE) names.add(value.name.value);
    },
  });
  return [...names];
};

/** Resolves the operation by the coerced values of its variables. */
export const resolveDocument = (
  document: DocumentNode,
  operation: OperationDefinitionNode,
  values: Readonly<Record<string, unknown>>,
): ResolvedDocument => {
  const fragments = document.definitions.filter(
    (definition) => definition.kind === Kind.FRAGMENT_DEFINITION,
  );
  // The planner would copy the name into each fetch, and equal fetches would differ.
  const nameless = withoutName(operation);
  const whole: DocumentNode = { kind: Kind.DOCUMENT, definitions: [nameless, ...fragments] };
  const resolved = withoutConditions(whole, values);
  const chosen = resolved ?? whole;
  const [root] = chosen.definitions;
  if (root?.kind !== Kind.OPERATION_DEFINITION) throw new Error('the operation comes first');
  const left = chosen.definitions.filter(
    (definition) => definition.kind === Kind.FRAGMENT_DEFINITION,
  );
  const fields = rootFields(
    root.selectionSet,
    new Map(left.map((fragment) => [fragment.name.value, fragment])),
  );
  const names = [...new Set(fields.map((field) => field.alias?.value ?? field.name.value))];
  const ofSchema = fields.filter(
    ({ name }) => name.value === '__schema' || name.value === '__type',
  );
  const others = fields.filter((field) => !ofSchema.includes(field));
  const onlyTypeNames = others.every(({ name }) => name.value === '__typename');
  if (resolved === null && ofSchema.length === 0)
    return { planned: whole, introspection: null, names, unresolved: true };
  const asking = (selections: readonly FieldNode[]): DocumentNode => ({
    kind: Kind.DOCUMENT,
    definitions: [{ ...root, selectionSet: { kind: Kind.SELECTION_SET, selections } }, ...left],
  });
  if (onlyTypeNames)
    return { planned: null, introspection: asking(fields), names, unresolved: false };
  if (ofSchema.length === 0)
    return { planned: chosen, introspection: null, names, unresolved: false };
  return {
    planned: asking(others),
    introspection: asking(ofSchema),
    names,
    unresolved: resolved === null,
  };
};

const withoutName = ({
  operation,
  selectionSet,
  variableDefinitions = [],
}: OperationDefinitionNode): OperationDefinitionNode => ({
  kind: Kind.OPERATION_DEFINITION,
  operation,
  variableDefinitions,
  selectionSet,
});

type Conditional = FieldNode | InlineFragmentNode | FragmentSpreadNode;

/** The document without its conditions; null when they leave an empty selection. */
const withoutConditions = (
  document: DocumentNode,
  values: Readonly<Record<string, unknown>>,
): DocumentNode | null => {
  let empty = false;
  const resolveNode = (node: Conditional): Conditional | null | undefined => {
    if (!node.directives?.some((directive) => isCondition(directive.name.value))) return undefined;
    if (getDirectiveValues(GraphQLSkipDirective, node, values)?.['if'] === true) return null;
    if (getDirectiveValues(GraphQLIncludeDirective, node, values)?.['if'] === false) return null;
    return {
      ...node,
      directives: node.directives.filter((directive) => !isCondition(directive.name.value)),
    };
  };
  const resolved = visit(document, {
    Field: resolveNode,
    InlineFragment: resolveNode,
    FragmentSpread: resolveNode,
    SelectionSet: { leave: ({ selections }) => void (empty ||= selections.length === 0) },
  });
  return empty ? null : resolved;
};

const rootFields = (
  { selections }: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): readonly FieldNode[] =>
  selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection];
    if (selection.kind === Kind.INLINE_FRAGMENT)
      return rootFields(selection.selectionSet, fragments);
    const fragment = fragments.get(selection.name.value);
    return fragment ? rootFields(fragment.selectionSet, fragments) : [];
  });
