/**
 * A query plan as closures: fetches in sequence or in parallel, each prepared at its subgraph
 * beforehand.
 */
import type {
  FetchNode,
  PlanNode,
  SubscriptionNode,
  QueryPlanSelectionNode,
} from '@apollo/query-planner';
import { GraphQLError, isObjectType, parse, type DocumentNode, type GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import { answerSize_max, valueSize } from '../../subgraphs/platform/access/answer-meter.ts';
import type { Call } from '../../subgraphs/platform/access/principal.ts';
import type {
  PreparedDocument,
  SubgraphExecutor,
} from '../../subgraphs/platform/graph/subgraph.ts';
import { errorOf } from '../graphql/errors.ts';
import { CannotCompile } from './answer-shape.ts';

// An entity fetch of a compiled plan. Each distinct object at a path is requested once (the stock
// gateway requests every occurrence), and the result is merged into all occurrences.

type DataObject = Record<string, unknown>;
type Path = readonly (string | number)[];

const isObject = (value: unknown): value is DataObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Merges a subgraph's data into what was batched before. */
const merge = (target: DataObject, source: DataObject): void => {
  for (const key of Object.keys(source)) {
    const given = source[key];
    // A JSON scalar from another process may contain this name as data; it must not reach a
    // prototype.
    if (given === undefined || key === '__proto__') continue;
    const present = target[key];
    if (isObject(present) && isObject(given)) merge(present, given);
    else if (Array.isArray(present) && Array.isArray(given) && present.length === given.length)
      mergeItems(present, given);
    else target[key] = given;
  }
};

const mergeItems = (target: unknown[], source: readonly unknown[]): void => {
  for (const [index, given] of source.entries()) {
    const present = target[index];
    if (isObject(present) && isObject(given)) merge(present, given);
    else target[index] = given;
  }
};

/** Adds the objects at the path to `found`; `@` stands for each item of a list. */
const objectsAt = (
  value: unknown,
  path: readonly string[],
  depth: number,
  found: DataObject[],
): void => {
  if (value === null || value === undefined) return;
  const step = path[depth];
  if (step === undefined) {
    if (isObject(value)) found.push(value);
  } else if (step === '@') {
    if (Array.isArray(value)) for (const item of value) objectsAt(item, path, depth + 1, found);
  } else if (isObject(value)) {
    objectsAt(value[step], path, depth + 1, found);
  }
};

/**
 * The response paths of the objects that `objectsAt` finds, in the same order. Needed for errors
 * alone.
 */
const pathsOfObjectsAt = (
  value: unknown,
  path: readonly string[],
  depth = 0,
  prefix: Path = [],
): readonly Path[] => {
  if (value === null || value === undefined) return [];
  const step = path[depth];
  if (step === undefined) return isObject(value) ? [prefix] : [];
  if (step === '@')
    return Array.isArray(value)
      ? value.flatMap((item, index) => pathsOfObjectsAt(item, path, depth + 1, [...prefix, index]))
      : [];
  return isObject(value) ? pathsOfObjectsAt(value[step], path, depth + 1, [...prefix, step]) : [];
};

/**
 * Makes the representation that identifies an object to the subgraph. Null when the fetch does
 * not concern this object.
 */
type Represent = (
  object: DataObject,
) => { readonly key: string; readonly representation: DataObject } | null;

/** Compiles a fetch's `requires`. Supports plain keys of object types alone. */
const compileRequires = (
  requires: readonly QueryPlanSelectionNode[],
  isTypeOfObjects: (name: string) => boolean,
): Represent => {
  const fieldsByType = new Map<string, string[]>();
  for (const selection of requires) {
    if (
      selection.kind !== 'InlineFragment' ||
      !selection.typeCondition ||
      !isTypeOfObjects(selection.typeCondition)
    )
      throw new CannotCompile('a key of an abstract type');
    if (fieldsByType.has(selection.typeCondition))
      throw new CannotCompile(`two keys of ${selection.typeCondition}`);
    fieldsByType.set(selection.typeCondition, selection.selections.map(plainField));
  }
  return (object) => {
    const fields =
      typeof object['__typename'] === 'string' ? fieldsByType.get(object['__typename']) : undefined;
    if (!fields) return null;
    const representation: DataObject = {};
    let key = '';
    for (const field of fields) {
      const value = object[field];
      if (value === undefined) return null;
      representation[field] = value;
      // The length keeps two different keys from concatenating to the same text.
      key += typeof value === 'string' ? `${value.length}:${value}` : JSON.stringify(value);
    }
    return { key, representation };
  };
};

const plainField = (selection: QueryPlanSelectionNode): string => {
  if (selection.kind !== 'Field' || selection.selections || selection.alias)
    throw new CannotCompile('a key with parts');
  return selection.name;
};

/** The distinct representations of objects, and the indexes of the objects behind each. */
interface EntityRequest {
  readonly representations: DataObject[];
  readonly standsFor: number[][];
}

/** Collects the distinct representations. Objects without one are left out. */
const distinctRepresentations = (
  objects: readonly DataObject[],
  represent: Represent,
): EntityRequest => {
  const request: EntityRequest = { representations: [], standsFor: [] };
  const known = new Map<string, number[]>();
  for (const [index, object] of objects.entries()) {
    const made = represent(object);
    if (!made) continue;
    const same = known.get(made.key);
    if (same) {
      same.push(index);
      continue;
    }
    const stands = [index];
    known.set(made.key, stands);
    request.representations.push(made.representation);
    request.standsFor.push(stands);
  }
  return request;
};

/**
 * Merges `_entities` into the objects that they were requested for. Throws when the answer does not
 * match the request.
 */
const mergeEntities = (
  objects: readonly DataObject[],
  request: EntityRequest,
  received: unknown,
): void => {
  const count = request.representations.length;
  if (!Array.isArray(received))
    throw new GraphQLError('Expected "data._entities" in response to be an array');
  if (received.length !== count)
    throw new GraphQLError(`Expected "data._entities" to contain ${count} elements`);
  for (const [place, indexes] of request.standsFor.entries()) {
    const entity: unknown = received[place];
    if (!isObject(entity)) continue;
    for (const index of indexes) {
      const object = objects[index];
      if (object) merge(object, entity);
    }
  }
};

export interface ExecutionState {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly call: Call;
  readonly data: DataObject;
  readonly errors: GraphQLError[];
}

export type Step = (state: ExecutionState) => Promise<void>;

export interface PlanDeps {
  readonly apiSchema: GraphQLSchema;
  readonly executors: Readonly<Record<string, SubgraphExecutor>>;
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
      state.errors.push(errorOf(thrown));
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
