/**
 * A query plan as closures: fetches in sequence or in parallel, each prepared at its subgraph
 * beforehand.
 */
import type { FetchNode, PlanNode, SubscriptionNode } from '@apollo/query-planner';
import { GraphQLError, isObjectType, parse, type DocumentNode, type GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import { answerSize_max, valueSize } from '../../subgraphs/platform/access/answer-meter.ts';
import type { Call } from '../../subgraphs/platform/access/principal.ts';
import type {
  PreparedDocument,
  SubgraphExecutor,
} from '../../subgraphs/platform/graph/subgraph.ts';
import { CannotCompile } from './cannot-compile.ts';
import {
  compileRequires,
  distinctRepresentations,
  merge,
  mergeEntities,
  objectsAt,
  pathsOfObjectsAt,
  type EntityRequest,
  type DataObject,
} from './entity-fetch.ts';

/** The state of one run of a plan. */
export interface ExecutionState {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly call: Call;
  readonly data: DataObject;
  readonly errors: GraphQLError[];
}

export type Step = (state: ExecutionState) => Promise<void>;

/** What compiling a plan needs to know. */
export interface PlanDeps {
  readonly apiSchema: GraphQLSchema;
  readonly executors: Readonly<Record<string, SubgraphExecutor>>;
  /** Names of all the operation's variables. */
  readonly variableNames: readonly string[];
}

/**
 * Compiles a plan. Throws CannotCompile on unsupported nodes: conditions, rewrites, deferred parts,
 * subscriptions.
 */
export const compileStep = (node: PlanNode | SubscriptionNode, deps: PlanDeps): Step => {
  switch (node.kind) {
    case 'Sequence': {
      const steps = node.nodes.map((inner) => compileStep(inner, deps));
      return async (state) => {
        for (const step of steps) await step(state);
      };
    }
    case 'Parallel': {
      const steps = node.nodes.map((inner) => compileStep(inner, deps));
      return async (state) => {
        await Promise.all(steps.map((step) => step(state)));
      };
    }
    case 'Flatten': {
      if (node.node.kind !== 'Fetch') throw new CannotCompile(`a ${node.node.kind} below a path`);
      return collectErrors(entityStep(node.node, node.path.map(plainStep), deps));
    }
    case 'Fetch':
      return collectErrors(rootStep(node, deps));
    case 'Condition':
    case 'Defer':
    case 'Subscription':
      throw new CannotCompile(`a plan with ${node.kind}`);
  }
};

const plainStep = (step: string | number): string => {
  if (typeof step === 'string' && /^(?:@|[A-Za-z_]\w*)$/.test(step) && step !== '__proto__')
    return step;
  throw new CannotCompile(`the path element ${step}`);
};

/** Turns the failure of a fetch into an error of the answer; other fetches continue. */
const collectErrors =
  (step: Step): Step =>
  async (state) => {
    try {
      await step(state);
    } catch (thrown) {
      state.errors.push(
        thrown instanceof GraphQLError
          ? thrown
          : new GraphQLError('internal error', {
              originalError: thrown instanceof Error ? thrown : null,
            }),
      );
    }
  };

/** How many parsed fetches are cached, by text. */
const fetchDocuments_max = 2_000;
const documents = new LRUCache<string, DocumentNode>({ max: fetchDocuments_max });

/** The document of a fetch: the same object for the same text. */
export const fetchDocument = (
  fetch: Pick<FetchNode, 'operation' | 'operationDocumentNode'>,
): DocumentNode => {
  const document =
    documents.get(fetch.operation) ??
    fetch.operationDocumentNode ??
    parse(fetch.operation, { noLocation: true });
  documents.set(fetch.operation, document);
  return document;
};

/** Prepares a fetch at its subgraph; `pick` selects its variables from the operation's. */
export const prepareFetch = (
  fetch: FetchNode,
  deps: PlanDeps,
): {
  readonly run: PreparedDocument;
  readonly pick: (variables: ExecutionState['variables']) => ExecutionState['variables'];
} => {
  const rewrites = [fetch.inputRewrites, fetch.outputRewrites, fetch.contextRewrites];
  if (rewrites.some((list) => list && list.length > 0))
    throw new CannotCompile('a fetch with rewrites');
  const executor = deps.executors[fetch.serviceName];
  if (!executor) throw new CannotCompile(`the subgraph ${fetch.serviceName}`);
  return {
    run: executor.prepare(fetchDocument(fetch)),
    pick: picker(fetch.variableUsages ?? [], deps.variableNames),
  };
};

const picker = (
  used: readonly string[],
  all: readonly string[],
): ((variables: ExecutionState['variables']) => ExecutionState['variables']) => {
  if (used.length === all.length) return (variables) => variables;
  return (variables) => {
    const picked: Record<string, unknown> = {};
    for (const name of used) if (variables[name] !== undefined) picked[name] = variables[name];
    return picked;
  };
};

const rootStep = (fetch: FetchNode, deps: PlanDeps): Step => {
  if (fetch.requires) throw new CannotCompile('an entity fetch without a path');
  const { run, pick } = prepareFetch(fetch, deps);
  return async (state) => {
    const result = await run(pick(state.variables), state.call);
    for (const error of result.errors ?? [])
      state.errors.push(subgraphError(error, fetch.serviceName, error.path));
    if (result.data) merge(state.data, result.data);
  };
};

const entityStep = (fetch: FetchNode, path: readonly string[], deps: PlanDeps): Step => {
  if (!fetch.requires) throw new CannotCompile('a fetch below a path that is not of entities');
  const { run, pick } = prepareFetch(fetch, deps);
  const represent = compileRequires(fetch.requires, (name) =>
    isObjectType(deps.apiSchema.getType(name)),
  );
  return async (state) => {
    const objects: DataObject[] = [];
    objectsAt(state.data, path, 0, objects);
    // An object that was fetched once may occur at many places.
    const { meter } = state.call;
    if (meter && objects.length * valueSize > answerSize_max) throw meter.end();
    const request = distinctRepresentations(objects, represent);
    if (request.representations.length === 0) return;
    const result = await run(
      { ...pick(state.variables), representations: request.representations },
      state.call,
    );
    if (result.errors)
      state.errors.push(
        ...entityErrors(result.errors, fetch.serviceName, request, path, state.data),
      );
    if (result.data) mergeEntities(objects, request, result.data['_entities']);
  };
};

/** The errors of an entity fetch, each repeated for every place of its entity. */
const entityErrors = (
  errors: readonly GraphQLError[],
  serviceName: string,
  request: EntityRequest,
  path: readonly string[],
  data: DataObject,
): readonly GraphQLError[] => {
  const paths = pathsOfObjectsAt(data, path);
  return errors.flatMap((error) => {
    const place = error.path?.[1];
    if (!error.path || typeof place !== 'number')
      return [subgraphError(error, serviceName, error.path && [...path, ...error.path])];
    const below = error.path.slice(2);
    return (request.standsFor[place] ?? []).map((index) =>
      subgraphError(error, serviceName, [...(paths[index] ?? []), ...below]),
    );
  });
};

/**
 * A subgraph's error as the client gets it: the same message, at the path in the client's own
 * operation.
 */
export const subgraphError = (
  error: GraphQLError,
  serviceName: string,
  path: readonly (string | number)[] | undefined,
): GraphQLError =>
  new GraphQLError(error.message || `Error while fetching subquery from service "${serviceName}"`, {
    originalError: error,
    ...(path ? { path } : {}),
    extensions: { code: 'DOWNSTREAM_SERVICE_ERROR', ...error.extensions, serviceName },
  });
