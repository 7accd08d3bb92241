/** Reads the variables of an operation, and counts no more mistakes in them than are shown. */
import {
  getVariableValues,
  type GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { fieldMistakes_max } from '../../subgraphs/rules/refusal.ts';

type Read =
  | { readonly coerced: Readonly<Record<string, unknown>>; readonly errors?: undefined }
  | { readonly coerced?: undefined; readonly errors: readonly GraphQLError[] };

/**
 * The variables by their types, or the first mistakes in them. Each mistake is an error with a
 * stack: without the bound, a list that just fits into a request would hold the process for minutes.
 */
export const readVariables = (
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): Read => {
  const options = { maxErrors: fieldMistakes_max };
  const { coerced, errors } = getVariableValues(schema, variableDefinitions, variables, options);
  // The last error only says that there are more.
  return errors ? { errors: errors.slice(0, fieldMistakes_max) } : { coerced };
};
