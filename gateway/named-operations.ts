/**
 * The named operations behind REST routes, the hosted page and the gateway itself. The first call
 * compiles an operation from the plan that `npm run generate` made. Operations that cannot be
 * compiled run on the stock executor.
 */
import type { QueryPlan } from '@apollo/query-planner';
import { separateOperations, type ExecutionResult, type GraphQLSchema } from 'graphql';
import type { OperationMap, OperationName } from '../schema/generated/operation-map.ts';
import {
  askedSubgraphs,
  readInternalOperations,
  readOperations,
  type SubgraphName,
} from '../schema/sources.ts';
import type { Call } from '../subgraphs/platform/access/principal.ts';
import type { PreparedDocument, SubgraphExecutor } from '../subgraphs/platform/graph/subgraph.ts';
import { lazily } from '../subgraphs/platform/graph/lazily.ts';
import type { Logger } from '../subgraphs/platform/tracing/telemetry.ts';
import { currentSpan, spanned } from '../subgraphs/platform/tracing/tracing.ts';
import { CannotCompile } from './compile/cannot-compile.ts';
import { compileOperation } from './compile/compiled-operation.ts';
import type { ExecuteGraphRequest } from './graph-request.ts';
import { runLogged } from './graphql/log-own-errors.ts';

/** A named operation. Its variables are typed and are not validated again. */
interface NamedOperation<Name extends OperationName = OperationName> {
  readonly name: Name;
  run(
    variables: OperationMap[Name]['variables'],
    call: Call,
  ): Promise<ExecutionResult<OperationMap[Name]['result']>>;
}

export interface NamedOperations {
  readonly operation: <Name extends OperationName>(name: Name) => NamedOperation<Name>;
  /** Whether each planned operation can be compiled; the others run on the stock executor. */
  readonly areCompiled: () => ReadonlyMap<string, boolean>;
}

interface NamedOperationsDeps {
  readonly apiSchema: () => GraphQLSchema;
  readonly executors: Readonly<Record<SubgraphName, SubgraphExecutor>>;
  readonly log: Logger;
  readonly execute: ExecuteGraphRequest;
  /** The plan of each operation, by its name. */
  readonly plans: Readonly<Record<string, QueryPlan>>;
}

/** Opens the named operations: nothing is compiled yet. */
export const prepareNamedOperations = (deps: NamedOperationsDeps): NamedOperations => {
  const compiled = openPlanned(deps);
  const operations = new Map([
    ...Array.from(
      compiled,
      ([name, prepared]) => [name, traced(name, () => prepared().run)] as const,
    ),
    ...prepareInternal(deps.executors),
  ]);
  return {
    operation: <Name extends OperationName>(name: Name) => {
      const run = operations.get(name);
      if (!run) throw new Error(`no operation is named ${name}`);
      // The map of types is generated from the very documents that were planned.
      return { name, run } as NamedOperation<Name>;
    },
    areCompiled: () =>
      new Map(Array.from(compiled, ([name, prepared]) => [name, prepared().compiled])),
  };
};

interface Prepared {
  readonly run: PreparedDocument;
  readonly compiled: boolean;
}

/** The planned operations, each compiled when it is asked for. */
const openPlanned = ({
  apiSchema,
  executors,
  log,
  execute,
  plans,
}: NamedOperationsDeps): ReadonlyMap<string, () => Prepared> => {
  const documents = lazily(() => separateOperations(readOperations()));
  const prepare = (name: string, plan: QueryPlan): Prepared => {
    const document = documents()[name];
    if (!document) throw new Error(`the plan of ${name} is stale: run npm run generate`);
    try {
      const run = compileOperation({
        document,
        plan,
        apiSchema: apiSchema(),
        executors,
        counts: false,
      });
      return { run: runLogged(run, log), compiled: true };
    } catch (error) {
      if (!(error instanceof CannotCompile)) throw error;
      return { run: (variables, call) => execute({ document, variables }, call), compiled: false };
    }
  };
  return new Map(
    Object.entries(plans).map(([name, plan]) => [name, lazily(() => prepare(name, plan))]),
  );
};

/** The service's own operations, outside of the public graph. Each runs on its subgraph. */
const prepareInternal = (
  executors: NamedOperationsDeps['executors'],
): ReadonlyMap<string, PreparedDocument> =>
  new Map(
    askedSubgraphs.flatMap((subgraph) =>
      Object.entries(separateOperations(readInternalOperations(subgraph))).map(
        ([name, document]) =>
          [
            name,
            traced(
              name,
              lazily(() => executors[subgraph].prepare(document)),
            ),
          ] as const,
      ),
    ),
  );

/** Runs an operation in a span of its own; the first run prepares it. */
const traced = (name: string, prepared: () => PreparedDocument): PreparedDocument => {
  const start = { kind: 'internal', name: `operation ${name}` } as const;
  return (variables, call) => {
    const run = prepared();
    return currentSpan() ? spanned(start, () => run(variables, call)) : run(variables, call);
  };
};
