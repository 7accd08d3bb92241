/**
 * A query plan as closures: fetches one after another or at once, each prepared at its subgraph
 * beforehand.
 */
import type { FetchNode, PlanNode, SubscriptionNode } from '@apollo/query-planner';
import { GraphQLError, isObjectType, parse, type DocumentNode, type GraphQLSchema } from 'graphql';
import { answerValues_max } from '../../subgraphs/kernel/service/graph/answer-meter.ts';
import { Lru } from '../../subgraphs/kernel/service/lru.ts';
import type { Call } from '../../subgraphs/kernel/service/access/principal.ts';
import type {
  PreparedDocument,
  SubgraphExecutor,
} from '../../subgraphs/kernel/service/graph/subgraph.ts';
import { CannotCompile } from './cannot-compile.ts';
import {
  compileRequires,
  distinctRepresentations,
  merge,
  mergeEntities,
  objectsAt,
  pathsOfObjectsAt,
  type Asked,
  type DataObject,
} from './entity-fetch.ts';

/** One run of a plan: what it has gathered. */
export interface Journey {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly call: Call;
  readonly data: DataObject;
  readonly errors: GraphQLError[];
}

export type Step = (journey: Journey) => Promise<void>;

/** What compiling a plan needs to know. */
export interface PlanParts {
  readonly apiSchema: GraphQLSchema;
  readonly executors: Readonly<Record<string, SubgraphExecutor>>;
  /** Names of all the operation's variables. */
  readonly variableNames: readonly string[];
}

/**
 * Compiles a plan. Throws CannotCompile on a node that is not known here: conditions, rewrites,
 * deferred parts, subscriptions.
 */
export const compileStep = (node: PlanNode | SubscriptionNode, parts: PlanParts): Step => {
  switch (node.kind) {
    case 'Sequence': {
      const steps = node.nodes.map((inner) => compileStep(inner, parts));
      return async (journey) => {
        for (const step of steps) await step(journey);
      };
    }
    case 'Parallel': {
      const steps = node.nodes.map((inner) => compileStep(inner, parts));
      return async (journey) => {
        await Promise.all(steps.map((step) => step(journey)));
      };
    }
    case 'Flatten': {
      if (node.node.kind !== 'Fetch') throw new CannotCompile(`a ${node.node.kind} below a path`);
      return guarded(entityStep(node.node, node.path.map(plainStep), parts));
    }
    case 'Fetch':
      return guarded(rootStep(node, parts));
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

/** A fetch that fails is one of the answer's errors; the others go on. */
const guarded =
  (step: Step): Step =>
  async (journey) => {
    try {
      await step(journey);
    } catch (thrown) {
      journey.errors.push(
        thrown instanceof GraphQLError
          ? thrown
          : new GraphQLError('internal error', {
              originalError: thrown instanceof Error ? thrown : null,
            }),
      );
    }
  };

/** Texts of fetches that are remembered as documents. */
const fetchDocuments_max = 2_000;
const documents = new Lru<string, DocumentNode>(fetchDocuments_max);

/** The document that a fetch sends: the same object for the same text. */
export const fetchDocument = (fetch: FetchNode): DocumentNode => {
  const document =
    documents.get(fetch.operation) ??
    fetch.operationDocumentNode ??
    parse(fetch.operation, { noLocation: true });
  documents.set(fetch.operation, document);
  return document;
};

/** Prepares a fetch at its subgraph; `pick` chooses its variables out of the operation's. */
export const prepareFetch = (
  fetch: FetchNode,
  parts: PlanParts,
): {
  readonly run: PreparedDocument;
  readonly pick: (variables: Journey['variables']) => Journey['variables'];
} => {
  const rewrites = [fetch.inputRewrites, fetch.outputRewrites, fetch.contextRewrites];
  if (rewrites.some((list) => list && list.length > 0))
    throw new CannotCompile('a fetch with rewrites');
  const executor = parts.executors[fetch.serviceName];
  if (!executor) throw new CannotCompile(`the subgraph ${fetch.serviceName}`);
  return {
    run: executor.prepare(fetchDocument(fetch)),
    pick: picker(fetch.variableUsages ?? [], parts.variableNames),
  };
};

const picker = (
  used: readonly string[],
  all: readonly string[],
): ((variables: Journey['variables']) => Journey['variables']) => {
  if (used.length === all.length) return (variables) => variables;
  return (variables) => {
    const picked: Record<string, unknown> = {};
    for (const name of used) if (variables[name] !== undefined) picked[name] = variables[name];
    return picked;
  };
};

const rootStep = (fetch: FetchNode, parts: PlanParts): Step => {
  if (fetch.requires) throw new CannotCompile('an entity fetch without a path');
  const { run, pick } = prepareFetch(fetch, parts);
  return async (journey) => {
    const result = await run(pick(journey.variables), journey.call);
    for (const error of result.errors ?? [])
      journey.errors.push(subgraphError(error, fetch.serviceName, error.path));
    if (result.data) merge(journey.data, result.data);
  };
};

const entityStep = (fetch: FetchNode, path: readonly string[], parts: PlanParts): Step => {
  if (!fetch.requires) throw new CannotCompile('a fetch below a path that is not of entities');
  const { run, pick } = prepareFetch(fetch, parts);
  const represent = compileRequires(fetch.requires, (name) =>
    isObjectType(parts.apiSchema.getType(name)),
  );
  return async (journey) => {
    const objects: DataObject[] = [];
    objectsAt(journey.data, path, 0, objects);
    // One object that was fetched once may stand at many places.
    if (journey.call.meter && objects.length > answerValues_max) journey.call.meter.exceed();
    const asked = distinctRepresentations(objects, represent);
    if (asked.representations.length === 0) return;
    const result = await run(
      { ...pick(journey.variables), representations: asked.representations },
      journey.call,
    );
    if (result.errors)
      journey.errors.push(
        ...entityErrors(result.errors, fetch.serviceName, asked, path, journey.data),
      );
    if (result.data) mergeEntities(objects, asked, result.data['_entities']);
  };
};

/** Errors of an entity fetch, each told at every place where the entity stands. */
const entityErrors = (
  errors: readonly GraphQLError[],
  serviceName: string,
  asked: Asked,
  path: readonly string[],
  data: DataObject,
): readonly GraphQLError[] => {
  const paths = pathsOfObjectsAt(data, path);
  return errors.flatMap((error) => {
    const place = error.path?.[1];
    if (!error.path || typeof place !== 'number')
      return [subgraphError(error, serviceName, error.path && [...path, ...error.path])];
    const below = error.path.slice(2);
    return (asked.standsFor[place] ?? []).map((index) =>
      subgraphError(error, serviceName, [...(paths[index] ?? []), ...below]),
    );
  });
};

/**
 * An error of a subgraph as the client gets it: the same words, at the path in the client's own
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
