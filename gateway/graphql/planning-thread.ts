/**
 * The thread that reads and plans documents which have not been seen before. Both take a time that
 * only the document decides, and hold whatever thread they run in: not the one that serves.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { operationFromDocument, Supergraph } from '@apollo/federation-internals';
import { QueryPlanner, type QueryPlan } from '@apollo/query-planner';
import {
  GraphQLError,
  NoSchemaIntrospectionCustomRule,
  parse,
  specifiedRules,
  validate,
  type DocumentNode,
  type ValidationRule,
} from 'graphql';
import { documentTokens_max, limitDocument } from './document-limits.ts';
import { finiteNumbers } from './finite-numbers.ts';

/**
 * What is asked of the thread: what is wrong with a client's text, or the plan of one operation.
 */
export interface PlanningTask {
  readonly kind: 'read' | 'plan';
  readonly text: string;
  /** Reading: whether the schema may be asked for. */
  readonly introspection: boolean;
}

/** A mistake in a document, as it crosses threads. */
export interface Mistake {
  readonly message: string;
  readonly positions: readonly number[];
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** What the thread answers. `failure`: it could not be planned. */
export type PlanningAnswer =
  | { readonly mistakes: readonly Mistake[] }
  | { readonly plan: QueryPlan }
  | { readonly failure: string };

const { supergraphSdl } = workerData as { readonly supergraphSdl: string };
const supergraph = Supergraph.build(supergraphSdl, { validateSupergraph: false });
const apiSchema = supergraph.apiSchema();
const schema = apiSchema.toGraphQLJSSchema();
const planner = new QueryPlanner(supergraph);

const mistakeOf = (error: GraphQLError): Mistake => ({
  message: error.message,
  positions: error.positions ?? [],
  extensions: { ...error.extensions, code: 'bad_request' },
});

/** The limits come first: the rules of GraphQL take as long as a document is large, and longer. */
const mistakesIn = (text: string, introspection: boolean): readonly Mistake[] => {
  let document: DocumentNode;
  try {
    document = parse(text, { maxLexicalTokens: documentTokens_max });
  } catch (error) {
    if (error instanceof GraphQLError) return [mistakeOf(error)];
    throw error;
  }
  const rest: readonly ValidationRule[] = [
    ...specifiedRules,
    finiteNumbers,
    ...(introspection ? [] : [NoSchemaIntrospectionCustomRule]),
  ];
  const over = validate(schema, document, [limitDocument]);
  return (over.length > 0 ? over : validate(schema, document, rest)).map((error) =>
    mistakeOf(error),
  );
};

const answer = ({ kind, text, introspection }: PlanningTask): PlanningAnswer => {
  try {
    if (kind === 'read') return { mistakes: mistakesIn(text, introspection) };
    return { plan: planner.buildQueryPlan(operationFromDocument(apiSchema, parse(text))) };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
};

// The first document takes many times as long as others: it is not a caller's.
answer({ kind: 'plan', text: '{ __typename }', introspection: true });
mistakesIn('{ __typename }', true);
parentPort?.postMessage('begun', []);
parentPort?.on('message', (task: PlanningTask) => parentPort?.postMessage(answer(task), []));
