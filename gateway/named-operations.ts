/**
 * The named operations behind REST routes, the hosted page and the gateway itself, compiled at
 * boot. What cannot be compiled runs on the stock executor.
 */
import {
  getOperationAST,
  separateOperations,
  validate,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
} from 'graphql';
import type { OperationMap, OperationName } from '../schema/generated/operation-map.ts';
import {
  askedSubgraphs,
  readInternalOperations,
  readOperations,
  type SubgraphName,
} from '../schema/sources.ts';
import type { Call } from '../subgraphs/kernel/service/access/principal.ts';
import type {
  PreparedDocument,
  SubgraphExecutor,
} from '../subgraphs/kernel/service/graph/subgraph.ts';
import { currentSpan, spanned } from '../subgraphs/kernel/service/tracing/tracing.ts';
import { CannotCompile } from './compile/cannot-compile.ts';
import type { ExecuteGraphRequest } from './graph-request.ts';

/** A named operation, ready to run. Its variables are typed and are not validated again. */
export interface CompiledOperation<Name extends OperationName = OperationName> {
  readonly name: Name;
  /** False when it runs on the stock executor. */
  readonly compiled: boolean;
  run(
    variables: OperationMap[Name]['variables'],
    call: Call,
  ): Promise<ExecutionResult<OperationMap[Name]['result']>>;
}

export interface NamedOperations {
  readonly operation: <Name extends OperationName>(name: Name) => CompiledOperation<Name>;
  readonly compiledNames: readonly OperationName[];
  /** Operations that run on the stock executor. */
  readonly fallbackNames: readonly OperationName[];
}

export interface NamedOperationsParts {
  readonly apiSchema: GraphQLSchema;
  readonly executors: Readonly<Record<SubgraphName, SubgraphExecutor>>;
  /** Compiles a document, or throws CannotCompile. */
  readonly compile: (document: DocumentNode) => PreparedDocument;
  readonly execute: ExecuteGraphRequest;
}

/** Prepares every named operation. Throws when one does not fit the schema. */
export const prepareNamedOperations = (parts: NamedOperationsParts): NamedOperations => {
  const { operations, compiledNames, fallbackNames } = compileNamed(parts);
  const internal = prepareInternal(parts.executors);
  return {
    operation: <Name extends OperationName>(name: Name) => {
      const run = operations.get(name) ?? internal.get(name);
      if (!run) throw new Error(`no operation is named ${name}`);
      // The map of types is generated from the very documents that were compiled.
      return { name, compiled: !fallbackNames.includes(name), run } as CompiledOperation<Name>;
    },
    compiledNames,
    fallbackNames,
  };
};

/** Compiles the named queries and mutations; the others fall back to the stock executor. */
const compileNamed = ({ apiSchema, compile, execute }: NamedOperationsParts) => {
  const operations = new Map<OperationName, PreparedDocument>();
  const compiledNames: OperationName[] = [];
  const fallbackNames: OperationName[] = [];
  for (const [text, document] of readNamedOperations(apiSchema)) {
    // Subscriptions are served over graphql-ws: the gateway cannot run them.
    if (getOperationAST(document)?.operation === 'subscription') continue;
    const name = text as OperationName;
    try {
      operations.set(name, traced(name, compile(document)));
      compiledNames.push(name);
    } catch (error) {
      if (!(error instanceof CannotCompile)) throw error;
      operations.set(
        name,
        traced(name, (variables, call) => execute({ document, variables }, call)),
      );
      fallbackNames.push(name);
    }
  }
  return { operations, compiledNames, fallbackNames };
};

/** The service's own operations, outside of the public graph. Each runs on its subgraph. */
const prepareInternal = (
  executors: NamedOperationsParts['executors'],
): ReadonlyMap<string, PreparedDocument> =>
  new Map(
    askedSubgraphs.flatMap((subgraph) =>
      Object.entries(separateOperations(readInternalOperations(subgraph))).map(
        ([name, document]) => [name, traced(name, executors[subgraph].prepare(document))] as const,
      ),
    ),
  );

/** Runs an operation in a span of its own. */
const traced = (name: string, run: PreparedDocument): PreparedDocument => {
  const start = { kind: 'internal', name: `operation ${name}` } as const;
  return (variables, call) =>
    currentSpan() ? spanned(start, () => run(variables, call)) : run(variables, call);
};

/** The documents behind the named operations, each with its fragments. */
const readNamedOperations = (apiSchema: GraphQLSchema): ReadonlyMap<string, DocumentNode> => {
  const all = readOperations();
  const errors = validate(apiSchema, all);
  if (errors.length > 0) throw new Error(errors.map((error) => error.message).join('\n'));
  return new Map(Object.entries(separateOperations(all)));
};
