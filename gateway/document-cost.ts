/**
 * What an operation may cost at most, estimated before it runs: the objects that it could answer with. A list with `first` counts as many, another list
 * as many as it mostly has; a scalar comes with its object and counts nothing.
 */
import { getNamedType, getNullableType, getOperationAST, getVariableValues, isCompositeType, isListType, isIntrospectionType } from 'graphql';
import type { DocumentNode, GraphQLError, GraphQLOutputType, GraphQLSchema } from 'graphql';
import { getComplexity, type ComplexityEstimator } from 'graphql-query-complexity';
import { exceeded } from './document-limits.ts';

/** A page of 200 payments, each with its shop, merchant, refunds, and deliveries with their attempts, costs 24,600. */
export const operationCost_max = 25_000;
/** Objects that a list without `first` is taken for. */
export const listSize = 10;

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

/**
 * Why an operation of a valid document is too costly; null when it is not. Variables that cannot be read cost nothing: the operation will be refused
 * for them, in words that do not repeat their values.
 */
export const tooCostly = (schema: GraphQLSchema, { document, operationName, variables }: OperationToRun): GraphQLError | null => {
  const operation = getOperationAST(document, operationName);
  if (!operation || getVariableValues(schema, operation.variableDefinitions ?? [], variables).errors) return null;
  const cost = getComplexity({
    schema,
    query: document,
    variables: { ...variables },
    estimators: [estimate],
    ...(operation.name ? { operationName: operation.name.value } : {}),
  });
  return cost > operationCost_max ? exceeded('an estimated cost', cost, operationCost_max, operation) : null;
};
