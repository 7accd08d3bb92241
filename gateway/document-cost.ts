/**
 * What an operation may cost at most, estimated before it runs: the objects that it could answer with. A list with `first` counts as many, another list
 * as many as it mostly has; a scalar comes with its object and counts nothing.
 */
import { getNamedType, getNullableType, getOperationAST, getVariableValues, isCompositeType, isListType, isIntrospectionType, Kind } from 'graphql';
import type { DocumentNode, GraphQLError, GraphQLOutputType, GraphQLSchema, OperationDefinitionNode, TypeNode } from 'graphql';
import { getComplexity, type ComplexityEstimator } from 'graphql-query-complexity';
import { exceeded } from './document-limits.ts';

/** A page of 200 payments, each with its shop, merchant, refunds, and deliveries with their attempts, costs 24,600. */
export const operationCost_max = 25_000;
/** Objects that a list without `first` is taken for. */
const listSize = 10;

const isList = (type: GraphQLOutputType): boolean => isListType(getNullableType(type));

const estimate: ComplexityEstimator = ({ field, args, type, childComplexity }) => {
  const named = getNamedType(field.type);
  // The schema itself is in memory, and as large as it is.
  if (!isCompositeType(named) || isIntrospectionType(named)) return 0;
  // The rows of a page are multiplied by the field that has `first`.
  if (type.name.endsWith('Connection') && isList(field.type)) return 1 + childComplexity;
  const first: unknown = args['first'];
  if (typeof first === 'number') return 1 + Math.max(first, 0) * childComplexity;
  return isList(field.type) ? listSize * (1 + childComplexity) : 1 + childComplexity;
};

export interface OperationToRun {
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** How many runs that were not too costly are remembered of one document. */
const remembered = 100;
const rememberedLength_max = 200;

/** Runs that were not too costly, by document: its operation and the values that decide the cost. Apollo Server keeps one document object for each text. */
const fitting = new WeakMap<DocumentNode, Set<string>>();

const namedTypeOf = (type: TypeNode): string => (type.kind === Kind.NAMED_TYPE ? type.name.value : namedTypeOf(type.type));

/** What of the variables decides the cost: `first` is an Int, and a condition a Boolean. One that is absent has its default, which null has not. */
const decisiveValues = ({ name, variableDefinitions = [] }: OperationDefinitionNode, variables: OperationToRun['variables']): string => {
  const decisive = variableDefinitions.filter(({ type }) => ['Int', 'Boolean'].includes(namedTypeOf(type)));
  const values = decisive.map(({ variable }) => (variable.name.value in variables ? [variables[variable.name.value]] : []));
  return JSON.stringify([name?.value, values]);
};

/**
 * Why an operation of a valid document is too costly; null when it is not. Variables that cannot be read cost nothing: the operation will be refused
 * for them, in words that do not repeat their values.
 */
export const tooCostly = (schema: GraphQLSchema, { document, operationName, variables }: OperationToRun): GraphQLError | null => {
  const operation = getOperationAST(document, operationName);
  if (!operation) return null;
  const run = decisiveValues(operation, variables);
  const known = fitting.get(document) ?? new Set<string>();
  if (known.has(run) || getVariableValues(schema, operation.variableDefinitions ?? [], variables).errors) return null;
  const cost = getComplexity({
    schema,
    query: document,
    variables: { ...variables },
    estimators: [estimate],
    ...(operation.name ? { operationName: operation.name.value } : {}),
  });
  if (cost > operationCost_max) return exceeded('an estimated cost', cost, operationCost_max, operation);
  if (known.size < remembered && run.length <= rememberedLength_max) fitting.set(document, known.add(run));
  return null;
};
