/**
 * Runs the documents of clients. Each is planned in another thread when it comes for the first
 * time, and compiled like the named operations; what cannot be compiled runs on the stock executor
 * by the same plan. What is asked of the schema itself is answered here: the stock executor does
 * not know `isOneOf`.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { QueryPlan } from '@apollo/query-planner';
import type { GatewayGraphQLRequestContext } from '@apollo/server-gateway-interface';
import {
  execute,
  getOperationAST,
  getVariableValues,
  GraphQLError,
  print,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { AnswerMeter, stockAnswerRoom } from '../../subgraphs/kernel/service/graph/answer-meter.ts';
import { Lru } from '../../subgraphs/kernel/service/lru.ts';
import type { Call } from '../../subgraphs/kernel/service/access/principal.ts';
import { presentInputError } from '../../subgraphs/kernel/service/graph/present-errors.ts';
import type { PreparedDocument } from '../../subgraphs/kernel/service/graph/subgraph.ts';
import { CannotCompile } from '../compile/cannot-compile.ts';
import { decide, decisiveVariables, type DecidedDocument } from './decided-document.ts';
import type { DocumentPlanner } from './plan-documents.ts';
import { rateOwner } from '../callers/quota.ts';

/** The gateway's executor, as Apollo Server calls it; its context value is the `Call`. */
export type GatewayExecutor = (context: GatewayGraphQLRequestContext) => Promise<ExecutionResult>;

/** Documents that are kept ready to run, each for one choice of its conditions. */
const ready_max = 1_000;

export interface DocumentParts {
  readonly apiSchema: GraphQLSchema;
  readonly planner: Pick<DocumentPlanner, 'plan'>;
  /** Compiles a document by its plan, in pieces, or rejects with CannotCompile. */
  readonly compile: (document: DocumentNode, plan: QueryPlan) => Promise<PreparedDocument>;
  /** The stock executor, which runs a document by a plan that it is given. */
  readonly runByPlan: (
    plan: QueryPlan,
    context: GatewayGraphQLRequestContext,
  ) => Promise<ExecutionResult>;
  /** False: nothing is compiled, and answers are not counted, to compare with. */
  readonly compiles: boolean;
}

type Run = (context: GatewayGraphQLRequestContext) => Promise<ExecutionResult>;

/** An executor for Apollo Server. It never rejects. */
export const runDocuments = (parts: DocumentParts): GatewayExecutor => {
  const { apiSchema } = parts;
  const ready = new Lru<string, Promise<Run>>(ready_max);
  const nameOf = namer();
  const prepared = (
    key: string,
    document: DocumentNode,
    context: GatewayGraphQLRequestContext,
    values: Readonly<Record<string, unknown>>,
  ): Promise<Run> => {
    const known = ready.get(key);
    if (known) return known;
    // The gateway hands its context on without knowing what it is.
    const run = prepare(
      parts,
      decide(document, context.operation, values),
      context.context as Call,
    );
    ready.set(key, run);
    run.catch(() => ready.delete(key));
    return run;
  };
  return async (context) => {
    const { document, operation, request } = context;
    const { coerced, errors } = getVariableValues(
      apiSchema,
      operation.variableDefinitions ?? [],
      request.variables ?? {},
    );
    if (errors) return { errors: errors.map(presentInputError) };
    const { name, decisive } = nameOf(document);
    const key = JSON.stringify([
      name,
      operation.name?.value,
      decisive.map((variable) => coerced[variable] ?? null),
    ]);
    try {
      const run = await prepared(key, document, context, coerced);
      return await run(context);
    } catch (thrown) {
      const error =
        thrown instanceof GraphQLError
          ? thrown
          : new GraphQLError('internal error', {
              originalError: thrown instanceof Error ? thrown : null,
            });
      return { data: null, errors: [error] };
    }
  };
};

/** A name for each document object, and the variables that decide what of it is selected. */
const namer = () => {
  const known = new WeakMap<
    DocumentNode,
    { readonly name: number; readonly decisive: readonly string[] }
  >();
  let last = 0;
  return (document: DocumentNode) => {
    const before = known.get(document);
    if (before) return before;
    last += 1;
    const made = { name: last, decisive: decisiveVariables(document) };
    known.set(document, made);
    return made;
  };
};

const prepare = async (
  parts: DocumentParts,
  decided: DecidedDocument,
  call: Call,
): Promise<Run> => {
  const ofSchema =
    decided.introspection && runIntrospection(parts.apiSchema, decided.introspection);
  const planned =
    decided.planned && (await prepareAnswer(parts, decided.planned, decided.undecided, call));
  if (!planned) return async (context) => ofSchema?.(context) ?? { data: {} };
  if (!ofSchema) return planned;
  return async (context) => merged(decided.names, ofSchema(context), await planned(context));
};

const runIntrospection =
  (schema: GraphQLSchema, document: DocumentNode) =>
  ({ request }: GatewayGraphQLRequestContext): ExecutionResult => {
    const result = execute({
      schema,
      document,
      rootValue: {},
      variableValues: request.variables ?? {},
    });
    if (result instanceof Promise) throw new Error('the schema is in memory');
    return result;
  };

/** One answer of two, its fields in the order of the operation. */
const merged = (
  names: readonly string[],
  schema: ExecutionResult,
  { data, ...rest }: ExecutionResult,
): ExecutionResult => {
  if (!data || !schema.data)
    return {
      ...rest,
      ...(schema.errors ? { errors: [...(rest.errors ?? []), ...schema.errors] } : {}),
      data: null,
    };
  const both = { ...schema.data, ...data };
  return {
    ...rest,
    data: Object.fromEntries(
      names.flatMap((name) => (name in both ? [[name, both[name]] as const] : [])),
    ),
  };
};

const prepareAnswer = async (
  parts: DocumentParts,
  document: DocumentNode,
  undecided: boolean,
  call: Call,
): Promise<Run> => {
  const plan = await parts.planner.plan(print(document), rateOwner(call.principal));
  const compiled =
    undecided || !parts.compiles ? null : await compiledOrNull(parts, document, plan);
  if (compiled)
    return counted(undefined, ({ context, request }) =>
      compiled(request.variables ?? {}, context as Call),
    );
  const operation = operationOf(document);
  const run: Run = ({ request: { variables = {} }, ...context }) =>
    parts.runByPlan(plan, { ...context, document, operation, request: { variables } });
  return parts.compiles ? counted(stockAnswerRoom, run) : run;
};

const operationOf = (document: DocumentNode): OperationDefinitionNode => {
  const operation = getOperationAST(document);
  if (!operation) throw new Error('a decided document has one operation');
  return operation;
};

/** A run whose answer ends where it is too large. What a mutation has done by then stays done. */
const counted =
  (room: ConstructorParameters<typeof AnswerMeter>[0], run: Run): Run =>
  async (context) => {
    const meter = new AnswerMeter(room);
    const call: Call = { ...(context.context as Call), meter };
    const result = await run({ ...context, context: call });
    // What the answer is made into next is as long a piece of work as its making.
    await turn();
    return meter.exceeded ? { data: null, errors: [meter.refusal] } : result;
  };

const compiledOrNull = async (
  { compile }: DocumentParts,
  document: DocumentNode,
  plan: QueryPlan,
): Promise<PreparedDocument | null> => {
  try {
    return await compile(document, plan);
  } catch (error) {
    if (error instanceof CannotCompile) return null;
    throw error;
  }
};
