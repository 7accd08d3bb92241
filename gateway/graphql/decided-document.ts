/**
 * A client's operation with everything decided that its variables decide: the operation alone,
 * without a name, without `@skip` and `@include`, and apart from what it asks of the schema itself,
 * which no subgraph is asked for.
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

export interface DecidedDocument {
  /** What the subgraphs are asked for; null when nothing. */
  readonly planned: DocumentNode | null;
  /** What is answered out of the schema; null when nothing. */
  readonly introspection: DocumentNode | null;
  /** The response names of the root, in order. */
  readonly names: readonly string[];
  /**
   * Conditions left an empty selection, which no planner takes: `planned` still has its conditions.
   */
  readonly undecided: boolean;
}

const isCondition = (name: string): boolean =>
  name === GraphQLSkipDirective.name || name === GraphQLIncludeDirective.name;

/** Names of the variables that decide what is selected. */
export const decisiveVariables = (document: DocumentNode): readonly string[] => {
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

/** Decides the operation by the coerced values of its variables. */
export const decide = (
  document: DocumentNode,
  operation: OperationDefinitionNode,
  values: Readonly<Record<string, unknown>>,
): DecidedDocument => {
  const fragments = document.definitions.filter(
    (definition) => definition.kind === Kind.FRAGMENT_DEFINITION,
  );
  // The planner would put the name into each of its fetches, and equal fetches would differ.
  const nameless = withoutName(operation);
  const whole: DocumentNode = { kind: Kind.DOCUMENT, definitions: [nameless, ...fragments] };
  const decided = withoutConditions(whole, values);
  const chosen = decided ?? whole;
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
  if (decided === null && ofSchema.length === 0)
    return { planned: whole, introspection: null, names, undecided: true };
  const asking = (selections: readonly FieldNode[]): DocumentNode => ({
    kind: Kind.DOCUMENT,
    definitions: [{ ...root, selectionSet: { kind: Kind.SELECTION_SET, selections } }, ...left],
  });
  if (onlyTypeNames)
    return { planned: null, introspection: asking(fields), names, undecided: false };
  if (ofSchema.length === 0)
    return { planned: chosen, introspection: null, names, undecided: false };
  return {
    planned: asking(others),
    introspection: asking(ofSchema),
    names,
    undecided: decided === null,
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

/** The document without its conditions; null when they leave a selection without any field. */
const withoutConditions = (
  document: DocumentNode,
  values: Readonly<Record<string, unknown>>,
): DocumentNode | null => {
  let empty = false;
  const decideNode = (node: Conditional): Conditional | null | undefined => {
    if (!node.directives?.some((directive) => isCondition(directive.name.value))) return undefined;
    if (getDirectiveValues(GraphQLSkipDirective, node, values)?.['if'] === true) return null;
    if (getDirectiveValues(GraphQLIncludeDirective, node, values)?.['if'] === false) return null;
    return {
      ...node,
      directives: node.directives.filter((directive) => !isCondition(directive.name.value)),
    };
  };
  const decided = visit(document, {
    Field: decideNode,
    InlineFragment: decideNode,
    FragmentSpread: decideNode,
    SelectionSet: { leave: ({ selections }) => void (empty ||= selections.length === 0) },
  });
  return empty ? null : decided;
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
