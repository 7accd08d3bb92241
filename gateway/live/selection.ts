/**
 * Splits a client's subscription into the events that it concerns and its selection, as a query
 * that re-reads one event through the gateway, so that any federated field can be selected.
 */
import {
  getArgumentValues,
  getNamedType,
  getOperationAST,
  GraphQLError,
  Kind,
  OperationTypeNode,
  parse,
  separateOperations,
  visit,
  type ASTNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { presentInputError } from '../../subgraphs/platform/graph/present-errors.ts';
import { fragmentBehind, fragmentsOf, hasField, type Fragments } from '../graphql/fragments.ts';
import { readVariables } from '../graphql/read-variables.ts';
import type { GraphRequest } from '../graphql/run-documents.ts';
import { codedError } from '../graphql/errors.ts';

export interface LiveSelection {
  /** The root field: `paymentCreated`, `events`... */
  readonly field: string;
  /** The field's name in the client's results. */
  readonly responseName: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /**
   * `query (...) { liveEvent(id: $id) { ... on PaymentCreatedEvent { <the client's selection> } }
   * }`
   */
  readonly query: DocumentNode;
  /** The query's variable that takes the event's id. */
  readonly idVariable: string;
  /** The client's values of the query's other variables. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Whether the selection has only fields of the event itself, so that nothing has to be read. */
  readonly isSelfContained: boolean;
}

const badInput = (message: string): GraphQLError => codedError('bad_request', message);

/**
 * Splits a subscription. The document has been validated against the schema. Gives errors where
 * variables or arguments are invalid.
 */
export const readSelection = (
  schema: GraphQLSchema,
  request: GraphRequest,
): LiveSelection | readonly GraphQLError[] => {
  const operation = getOperationAST(request.document, request.operationName);
  const root = schema.getSubscriptionType();
  if (!operation || !root || operation.operation !== OperationTypeNode.SUBSCRIPTION)
    return [badInput('The document has no such subscription.')];
  const fragments = fragmentsOf(request.document);
  const fields = rootFields(operation.selectionSet, fragments);
  const [node] = fields ?? [];
  if (!fields || !node)
    return [badInput('The root field of a subscription takes no @skip and no @include.')];
  const variables = readVariables(schema, operation, request.variables);
  if (variables.errors)
    return variables.errors.map((error) => badInput(presentInputError(error).message));
  const values = argumentsOf(root, node, variables.coerced);
  if (values instanceof GraphQLError) return [values];
  const typeName = getNamedType(root.getFields()[node.name.value]?.type)?.name;
  if (typeName === undefined) return [badInput(`There is no subscription ${node.name.value}.`)];
  const selectionSet: SelectionSetNode = {
    kind: Kind.SELECTION_SET,
    selections: fields.flatMap((field) => field.selectionSet?.selections ?? []),
  };
  return {
    field: node.name.value,
    responseName: node.alias?.value ?? node.name.value,
    arguments: values,
    ...queryForEvent(operation, typeName, selectionSet, fragments, request.variables),
  };
};

/**
 * The nodes of the root field, which validation has made the only one; null when a condition
 * applies to one.
 */
const rootFields = (
  { selections }: SelectionSetNode,
  fragments: Fragments,
): readonly FieldNode[] | null => {
  const found: FieldNode[] = [];
  for (const selection of selections) {
    if (selection.directives?.length) return null;
    if (selection.kind === Kind.FIELD) {
      found.push(selection);
      continue;
    }
    const fragment = fragmentBehind(selection, fragments);
    const inside = fragment ? rootFields(fragment.selectionSet, fragments) : [];
    if (!inside) return null;
    found.push(...inside);
  }
  return found;
};

const argumentsOf = (
  root: GraphQLObjectType,
  node: FieldNode,
  variables: Record<string, unknown>,
): Record<string, unknown> | GraphQLError => {
  const field = root.getFields()[node.name.value];
  if (!field) return badInput(`There is no subscription ${node.name.value}.`);
  try {
    return getArgumentValues(field, node, variables);
  } catch (error) {
    return badInput(error instanceof Error ? error.message : String(error));
  }
};

const queryForEvent = (
  operation: OperationDefinitionNode,
  typeName: string,
  selectionSet: SelectionSetNode,
  fragments: Fragments,
  sent: Readonly<Record<string, unknown>>,
): Pick<LiveSelection, 'query' | 'idVariable' | 'variables' | 'isSelfContained'> => {
  const asked = operation.variableDefinitions ?? [];
  let idVariable = 'id';
  while (asked.some(({ variable }) => variable.name.value === idVariable)) idVariable += '_';
  const text = `query ($${idVariable}: ID!) { liveEvent(id: $${idVariable}) { ... on ${typeName} { __typename } } }`;
  const whole = visit(parse(text, { noLocation: true }), {
    InlineFragment: { leave: (fragment) => ({ ...fragment, selectionSet }) },
    Document: {
      leave: ({ definitions, ...document }) => ({
        ...document,
        definitions: [...definitions, ...fragments.values()],
      }),
    },
  });
  // Only the fragments that it spreads, and those that they spread.
  const { '': used = whole } = separateOperations(whole);
  const names = variablesIn(used);
  const definitions = asked.filter(({ variable }) => names.has(variable.name.value));
  const query = visit(used, {
    OperationDefinition: ({ variableDefinitions = [], ...rest }) => ({
      ...rest,
      variableDefinitions: [...variableDefinitions, ...definitions],
    }),
  });
  const variables = Object.fromEntries(
    definitions.flatMap(({ variable: { name } }) =>
      Object.hasOwn(sent, name.value) ? [[name.value, sent[name.value]] as const] : [],
    ),
  );
  return {
    query,
    idVariable,
    variables,
    // An event's own fields are scalars; a field with a selection is an entity that must be read.
    isSelfContained: !hasField(
      query,
      ({ name, selectionSet: inside }) => inside !== undefined && name.value !== 'liveEvent',
    ),
  };
};

const variablesIn = (node: ASTNode): ReadonlySet<string> => {
  const names = new Set<string>();
  visit(node, { Variable: (variable) => void names.add(variable.name.value) });
  return names;
};
