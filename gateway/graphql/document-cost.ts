/**
 * Estimates the cost of an operation before it runs: the number of objects in the largest answer. A
 * list with `first` or `last` counts as many,
 * another list a usual number; scalars belong to their object and count nothing.
 */
import {
  getNamedType,
  getNullableType,
  getOperationAST,
  isCompositeType,
  isListType,
  isIntrospectionType,
  OperationTypeNode,
} from 'graphql';
import type {
  DocumentNode,
  GraphQLError,
  GraphQLNamedType,
  GraphQLOutputType,
  GraphQLSchema,
  OperationDefinitionNode,
} from 'graphql';
import { getComplexity, type ComplexityEstimator } from 'graphql-query-complexity';
import { exceeded } from './document-limits.ts';
import { fieldsIn, fragmentsOf, hasField } from './fragments.ts';
import { readVariables } from './read-variables.ts';

/**
 * A page of 200 payments, each with its shop, merchant, refunds, and deliveries with their
 * attempts, costs 24,600.
 */
export const operationCost_max = 25_000;
/** The limit of introspection: some three times what tools query. */
const introspectionCost_max = 8_000;
/**
 * Estimated objects that one token of the caller's rate pays for. The largest operation takes a
 * full bucket of 100.
 */
const objectsPerToken = 250;
/** The assumed length of a list without pages. */
const listSize = 10;
/** The length of a page whose size is not given. */
const pageSize = 50;
/** Lists that return a whole registry. */
const registrySizes: Readonly<Record<string, number>> = {
  'Query.tokens': 1_000,
  'Query.billingSubscriptions': 1_000,
};

const isList = (type: GraphQLOutputType): boolean => isListType(getNullableType(type));

const estimate: ComplexityEstimator = ({ field, args, type, childComplexity }) => {
  const named = getNamedType(field.type);
  if (!isCompositeType(named) || isIntrospectionType(named)) return 0;
  // The field of the connection multiplies the rows of a page. An edge counts as its node.
  if (type.name.endsWith('Connection') && isList(field.type))
    return (field.name === 'edges' ? 0 : 1) + childComplexity;
  // A page that returns its rows as one text has rows all the same.
  if (field.args.some(({ name }) => name === 'first')) {
    const sizes = [args['first'], args['last']].filter((size) => typeof size === 'number');
    const rows = sizes.length > 0 ? Math.max(...sizes, 0) : pageSize;
    return 1 + rows * Math.max(childComplexity, 1);
  }
  const size = registrySizes[`${type.name}.${field.name}`] ?? listSize;
  return isList(field.type) ? size * (1 + childComplexity) : 1 + childComplexity;
};

/**
 * The items of introspection's lists. An average field has one argument, a type one value or none;
 * one list below the type of a field or an argument may be that of the largest type.
 */
const estimateIntrospection = (schema: GraphQLSchema): ComplexityEstimator => {
  const types = Object.values(schema.getTypeMap());
  const fieldsOf = (type: GraphQLNamedType): number =>
    'getFields' in type ? Object.keys(type.getFields()).length : 0;
  const largest = Math.max(...types.map(fieldsOf));
  const average = Math.ceil(types.reduce((sum, type) => sum + fieldsOf(type), 0) / types.length);
  return ({ field, type, childComplexity }) => {
    if (!isIntrospectionType(getNamedType(field.type))) return childComplexity;
    if (field.name === 'types') return types.length * (1 + childComplexity);
    if (isList(field.type)) return (field.name === 'fields' ? average : 1) * (1 + childComplexity);
    return type.name === '__Field' || type.name === '__InputValue'
      ? childComplexity * largest
      : childComplexity;
  };
};

interface OperationToRun {
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** The cost of an operation: its tokens, and the refusal when it is too costly. */
export interface Cost {
  readonly tokens: number;
  readonly refused: GraphQLError | null;
}

/**
 * Computes the cost of an operation. With invalid variables it is nothing: the operation is refused
 * for them, without repeating their values. A mutation costs one token for each root field, an
 * answer one for each 250 estimated objects, every operation at least one.
 */
export const costOf = (schema: GraphQLSchema, run: OperationToRun): Cost => {
  const operation = getOperationAST(run.document, run.operationName);
  if (!operation) return { tokens: 1, refused: null };
  const { objects, introspection } = estimateOf(schema, operation, run);
  const mutations =
    operation.operation === OperationTypeNode.MUTATION
      ? fieldsIn(operation.selectionSet, fragmentsOf(run.document)).length
      : 0;
  const tokens = Math.max(1, mutations, Math.ceil((objects + introspection) / objectsPerToken));
  const over = (what: string, actual: number, max: number): GraphQLError | null =>
    actual > max ? exceeded(what, actual, max, operation) : null;
  return {
    tokens,
    refused:
      over('an estimated cost', objects, operationCost_max) ??
      over('an estimated cost of introspection', introspection, introspectionCost_max),
  };
};

const estimateOf = (
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  { document, variables }: OperationToRun,
) => {
  if (readVariables(schema, operation, variables).errors) return { objects: 0, introspection: 0 };
  const sum = (estimator: ComplexityEstimator): number =>
    getComplexity({
      schema,
      query: document,
      variables: { ...variables },
      estimators: [estimator],
      ...(operation.name ? { operationName: operation.name.value } : {}),
    });
  return {
    objects: sum(estimate),
    introspection: usesIntrospection(document) ? sum(estimateIntrospection(schema)) : 0,
  };
};

const usesIntrospection = (document: DocumentNode): boolean =>
  hasField(document, ({ name }) => name.value === '__schema' || name.value === '__type');
