/**
 * Runs the documents of clients. Each is planned in a worker thread when it first comes, and
 * compiled like the named operations; what cannot be compiled runs on the stock executor by the
 * same plan. Introspection is answered here, since the stock executor does not know `isOneOf`.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { QueryPlan } from '@apollo/query-planner';
import type { GatewayGraphQLRequestContext } from '@apollo/server-gateway-interface';
import {
  execute,
  getOperationAST,
  print,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  type OperationDefinitionNode,
  getDirectiveValues,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  Kind,
  visit,
  type FieldNode,
  type FragmentSpreadNode,
  type InlineFragmentNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import {
  AnswerMeter,
  answerSize_max,
  stockAnswerSize_max,
} from '../../subgraphs/platform/access/answer-meter.ts';
import type { Call } from '../../subgraphs/platform/access/principal.ts';
import { lazilyOf } from '../../subgraphs/platform/graph/lazily.ts';
import { presentInputError } from '../../subgraphs/platform/graph/present-errors.ts';
import type { PreparedDocument } from '../../subgraphs/platform/graph/subgraph.ts';
import { rateOwner } from '../callers/limits.ts';
import { CannotCompile } from '../compile/answer-shape.ts';
import { errorOf } from './errors.ts';
import { fieldsIn, fragmentsOf } from './fragments.ts';
import { readVariables } from './read-variables.ts';
import type { DocumentPlanner } from './plan-documents.ts';

/*
 * Resolves what the variables of a client's operation decide. The result is a single operation
 * without its name, `@skip` and `@include`, separated from introspection, which no subgraph
 * answers.
 */

interface ResolvedDocument {
  /** The part for the subgraphs; null when there is none. */
  readonly planned: DocumentNode | null;
  /** The introspection part; null when there is none. */
  readonly introspection: DocumentNode | null;
  /** The response names of the root, in order. */
  readonly names: readonly string[];
  /**
   * True when its conditions would leave an empty selection, which no planner accepts: `planned`
   * still has them.
   */
  readonly unresolved: boolean;
}

const isCondition = (name: string): boolean =>
  name === GraphQLSkipDirective.name || name === GraphQLIncludeDirective.name;

const conditionVariables = (document: DocumentNode): readonly string[] => {
  const names = new Set<string>();
  visit(document, {
    Directive: (directive) => {
      if (!isCondition(directive.name.value)) return;
      for (const { value } of directive.arguments ?? [])
        if (value.kind === Kind.VARIABLE) names.add(value.name.value);
    },
  });
  return [...names];
};

/** Resolves the operation by the coerced values of its variables. */
const resolveDocument = (
  document: DocumentNode,
  operation: OperationDefinitionNode,
  values: Readonly<Record<string, unknown>>,
): ResolvedDocument => {
  // The planner would copy the name into each fetch, and equal fetches would differ.
  const nameless = withoutName(operation);
  const whole: DocumentNode = {
    kind: Kind.DOCUMENT,
    definitions: [nameless, ...fragmentsOf(document).values()],
  };
  const resolved = withoutConditions(whole, values);
  const chosen = resolved ?? whole;
  const [root] = chosen.definitions;
  if (root?.kind !== Kind.OPERATION_DEFINITION) throw new Error('the operation comes first');
  const left = fragmentsOf(chosen);
  const fields = fieldsIn(root.selectionSet, left);
  const names = [...new Set(fields.map((field) => field.alias?.value ?? field.name.value))];
  const ofSchema = fields.filter(
    ({ name }) => name.value === '__schema' || name.value === '__type',
  );
  const others = fields.filter((field) => !ofSchema.includes(field));
  const onlyTypeNames = others.every(({ name }) => name.value === '__typename');
  const unresolved = resolved === null;
  if (ofSchema.length === 0 && (unresolved || !onlyTypeNames))
    return { planned: chosen, introspection: null, names, unresolved };
  const asking = (selections: readonly FieldNode[]): DocumentNode => ({
    kind: Kind.DOCUMENT,
    definitions: [
      { ...root, selectionSet: { kind: Kind.SELECTION_SET, selections } },
      ...left.values(),
    ],
  });
  if (onlyTypeNames)
    return { planned: null, introspection: asking(fields), names, unresolved: false };
  return { planned: asking(others), introspection: asking(ofSchema), names, unresolved };
};

const withoutName = ({
  operation,
  selectionSet,
  variableDefinitions = [],
}: OperationDefinitionNode): OperationDefinitionNode => ({
  kind: Kind.OPERATION_DEFINITION,
  operation,
  variableDefinitions,
  selectionSet,
});

type Conditional = FieldNode | InlineFragmentNode | FragmentSpreadNode;

/** The document without its conditions; null when they leave an empty selection. */
const withoutConditions = (
  document: DocumentNode,
  values: Readonly<Record<string, unknown>>,
): DocumentNode | null => {
  let empty = false;
  const resolveNode = (node: Conditional): Conditional | null | undefined => {
    if (!node.directives?.some((directive) => isCondition(directive.name.value))) return undefined;
    if (getDirectiveValues(GraphQLSkipDirective, node, values)?.['if'] === true) return null;
    if (getDirectiveValues(GraphQLIncludeDirective, node, values)?.['if'] === false) return null;
    return {
      ...node,
      directives: node.directives.filter((directive) => !isCondition(directive.name.value)),
    };
  };
  const resolved = visit(document, {
    Field: resolveNode,
    InlineFragment: resolveNode,
    FragmentSpread: resolveNode,
    SelectionSet: { leave: ({ selections }) => void (empty ||= selections.length === 0) },
  });
  return empty ? null : resolved;
};

/** The gateway's executor, as Apollo Server calls it; its context value is the `Call`. */
export type GatewayExecutor = (context: GatewayGraphQLRequestContext) => Promise<ExecutionResult>;

/** How many prepared documents are cached, each for one choice of its conditions. */
const ready_max = 1_000;

export interface DocumentDeps {
  readonly apiSchema: () => GraphQLSchema;
  /** What of it introspection shows to API keys. */
  readonly keySchema: () => GraphQLSchema;
  readonly planner: Pick<DocumentPlanner, 'plan'>;
  /**
   * Compiles a document by its plan, in several turns of the event loop. Rejects with
   * CannotCompile.
   */
  readonly compile: (document: DocumentNode, plan: QueryPlan) => Promise<PreparedDocument>;
  /** Runs a document on the stock executor by a given plan. */
  readonly runByPlan: (
    plan: QueryPlan,
    context: GatewayGraphQLRequestContext,
  ) => Promise<ExecutionResult>;
  /** False in comparisons: nothing is compiled, and answers are not metered. */
  readonly compiles: boolean;
}

type Run = (context: GatewayGraphQLRequestContext) => Promise<ExecutionResult>;

/** Opens an executor for Apollo Server. It never rejects. */
export const runDocuments = (deps: DocumentDeps): GatewayExecutor => {
  const { apiSchema } = deps;
  const ready = new LRUCache<string, Promise<Run>>({ max: ready_max });
  const nameOf = namer();
  const prepared = (
    key: string,
    document: DocumentNode,
    context: GatewayGraphQLRequestContext,
    values: Readonly<Record<string, unknown>>,
  ): Promise<Run> => {
    const known = ready.get(key);
    if (known) return known;
    // The gateway passes its context on as `unknown`.
    const run = prepare(
      deps,
      resolveDocument(document, context.operation, values),
      context.context as Call,
    );
    ready.set(key, run);
    run.catch(() => ready.delete(key));
    return run;
  };
  return async (context) => {
    const { document, operation, request } = context;
    const { coerced, errors } = readVariables(apiSchema(), operation, request.variables ?? {});
    if (errors) return { errors: errors.map(presentInputError) };
    const { name, conditions } = nameOf(document);
    const key = JSON.stringify([
      name,
      operation.name?.value,
      conditions.map((variable) => coerced[variable] ?? null),
    ]);
    try {
      const run = await prepared(key, document, context, coerced);
      return await run(context);
    } catch (thrown) {
      return { data: null, errors: [errorOf(thrown)] };
    }
  };
};

/** A number for each document object, and the variables of its conditions. */
const namer = () => {
  let last = 0;
  return lazilyOf((document: DocumentNode) => {
    last += 1;
    return { name: last, conditions: conditionVariables(document) };
  });
};

const prepare = async (
  deps: DocumentDeps,
  resolved: ResolvedDocument,
  call: Call,
): Promise<Run> => {
  const ofSchema = resolved.introspection && runIntrospection(deps, resolved.introspection);
  const planned =
    resolved.planned && (await prepareAnswer(deps, resolved.planned, resolved.unresolved, call));
  if (!planned) return async (context) => ofSchema?.(context) ?? { data: {} };
  if (!ofSchema) return planned;
  return async (context) => merged(resolved.names, ofSchema(context), await planned(context));
};

const runIntrospection =
  ({ apiSchema, keySchema }: DocumentDeps, document: DocumentNode) =>
  ({ request, context }: GatewayGraphQLRequestContext): ExecutionResult => {
    // As above: the gateway passes its context on as `unknown`.
    const { principal } = context as Call;
    const result = execute({
      schema: principal.kind === 'key' ? keySchema() : apiSchema(),
      document,
      rootValue: {},
      variableValues: request.variables ?? {},
    });
    if (result instanceof Promise) throw new Error('the schema is in memory');
    return result;
  };

/** Merges two answers, with the fields in the order of the operation. */
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
  deps: DocumentDeps,
  document: DocumentNode,
  unresolved: boolean,
  call: Call,
): Promise<Run> => {
  const plan = await deps.planner.plan(print(document), rateOwner(call.principal));
  const compiled = unresolved || !deps.compiles ? null : await compiledOrNull(deps, document, plan);
  if (compiled)
    return metered(answerSize_max, ({ context, request }) =>
      compiled(request.variables ?? {}, context as Call),
    );
  const operation = operationOf(document);
  const run: Run = ({ request: { variables = {} }, ...context }) =>
    deps.runByPlan(plan, { ...context, document, operation, request: { variables } });
  return deps.compiles ? metered(stockAnswerSize_max, run) : run;
};

const operationOf = (document: DocumentNode): OperationDefinitionNode => {
  const operation = getOperationAST(document);
  if (!operation) throw new Error('a decided document has one operation');
  return operation;
};

/** A run that stops when its answer is too large. What a mutation has done by then stays done. */
const metered =
  (size: number, run: Run): Run =>
  async (context) => {
    const meter = new AnswerMeter(size);
    const call: Call = { ...(context.context as Call), meter };
    const result = await run({ ...context, context: call });
    // Printing the answer takes as long as making it.
    await nextTurn();
    return meter.exceeded ? { data: null, errors: [meter.refusal] } : result;
  };

const compiledOrNull = async (
  { compile }: DocumentDeps,
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

/**
 * A document to run. It is parsed already; its plan and prepared parts are cached for as long as
 * the document object exists.
 */
export interface GraphRequest {
  readonly document: DocumentNode;
  readonly operationName?: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Runs a query or mutation that has been read. Never rejects. */
export type ExecuteGraphRequest = (request: GraphRequest, call: Call) => Promise<ExecutionResult>;
