/**
 * The worker thread that validates and plans new documents. Both block their thread for a time that
 * the document determines, so they do not run on the serving thread.
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
  type ValueNode,
} from 'graphql';
import { documentTokens_max, limitDocument } from './document-limits.ts';

/** A task for the thread: to validate a client's text, or to plan one operation. */
export interface PlanningTask {
  readonly kind: 'read' | 'plan';
  readonly text: string;
  /** For `read`: whether introspection is allowed. */
  readonly introspection: boolean;
}

export interface Mistake {
  readonly message: string;
  readonly positions: readonly number[];
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** The thread's answer. `failure` means that planning failed. */
export type PlanningAnswer =
  | { readonly mistakes: readonly Mistake[] }
  | { readonly plan: QueryPlan }
  | { readonly failure: string };

const { supergraphSdl } = workerData as { readonly supergraphSdl: string };
const supergraph = Supergraph.build(supergraphSdl, { validateSupergraph: false });
const apiSchema = supergraph.apiSchema();
const schema = apiSchema.toGraphQLJSSchema();
const planner = new QueryPlanner(supergraph);

/**
 * A validation rule against numbers that no input accepts: those with a fraction or an exponent,
 * which the planner would turn into integers, and too large ones, which it would turn into Infinity
 * and could not print.
 */
const integersAlone: ValidationRule = (context) => {
  const report = (node: ValueNode, message: string): void =>
    context.reportError(new GraphQLError(message, { nodes: [node] }));
  return {
    FloatValue: (node) =>
      report(node, 'expected an integer, got a number with a fraction or an exponent'),
    IntValue: (node) => {
      if (!Number.isFinite(Number(node.value))) report(node, 'a number is too large');
    },
  };
};

const mistakeOf = (error: GraphQLError): Mistake => ({
  message: error.message,
  positions: error.positions ?? [],
  extensions: { ...error.extensions, code: 'bad_request' },
});

/** The limits come first: the time of GraphQL's own rules grows faster than the document. */
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
    integersAlone,
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

// Warms up, since the first document takes many times as long as others.
answer({ kind: 'plan', text: '{ __typename }', introspection: true });
mistakesIn('{ __typename }', true);
parentPort?.postMessage('ready', []);
parentPort?.on('message', (task: PlanningTask) => parentPort?.postMessage(answer(task), []));
