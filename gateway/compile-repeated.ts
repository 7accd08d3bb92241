/**
 * Ad-hoc documents that come again are compiled like the named operations: a console sends the same few texts over and over, and the stock executor
 * rebuilds its operation and walks the whole answer twice on each call. What comes once, and what cannot be compiled, runs on the stock executor.
 */
import type { GatewayGraphQLRequestContext } from '@apollo/server-gateway-interface';
import { getVariableValues, OperationTypeNode, type DocumentNode, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { Lru } from '../subgraphs/kernel/service/lru.ts';
import type { Call } from '../subgraphs/kernel/service/principal.ts';
import type { PreparedDocument } from '../subgraphs/kernel/service/subgraph.ts';

/** The gateway's executor, as Apollo Server calls it; its context value is the `Call`. */
export type GatewayExecutor = (context: GatewayGraphQLRequestContext) => Promise<ExecutionResult>;

/** Documents that are remembered as seen or compiled. Apollo Server keeps a parsed document for each text, so that the object stands for the text. */
const documents_max = 1_000;

export interface RepeatedParts {
  readonly apiSchema: GraphQLSchema;
  readonly stock: GatewayExecutor;
  /** Compiles a document, or throws where it cannot. */
  readonly compile: (document: DocumentNode) => PreparedDocument;
}

/** An executor that gives the stock one's answers. Variables that do not fit their types are left to the stock one, which has the words for it. */
export const compileRepeated = ({ apiSchema, stock, compile }: RepeatedParts): GatewayExecutor => {
  const known = new Lru<DocumentNode, PreparedDocument | 'seen' | 'stock'>(documents_max);
  const prepared = (document: DocumentNode): PreparedDocument | null => {
    const state = known.get(document);
    if (typeof state === 'function') return state;
    if (state !== 'seen') {
      if (state === undefined) known.set(document, 'seen');
      return null;
    }
    const compiled = compiledOrNull(document, compile);
    known.set(document, compiled ?? 'stock');
    return compiled;
  };
  return async (context) => {
    const { document, operation, request } = context;
    const variables = request.variables ?? {};
    const run = operation.operation === OperationTypeNode.SUBSCRIPTION ? null : prepared(document);
    if (!run || getVariableValues(apiSchema, operation.variableDefinitions ?? [], variables, { maxErrors: 1 }).errors) return stock(context);
    // The gateway hands its context on without knowing what it is.
    return run(variables, context.context as Call);
  };
};

/** Null where it cannot be compiled. What the planner refuses is refused again by the stock executor, which has the words for it. */
const compiledOrNull = (document: DocumentNode, compile: RepeatedParts['compile']): PreparedDocument | null => {
  try {
    return compile(document);
  } catch {
    return null;
  }
};
