/**
 * The fetches of a plan: what an entity fetch requests, for which objects, and their errors. Each
 * distinct object at a path is requested once; the stock gateway requests every occurrence.
 */
import type {
  FetchNode,
  PlanNode,
  QueryPlanSelectionNode,
  SubscriptionNode,
} from '@apollo/query-planner';
import { GraphQLError, parse, type DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { CannotCompile } from './answer-shape.ts';

export type DataObject = Record<string, unknown>;
type Path = readonly (string | number)[];

export const isObject = (value: unknown): value is DataObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Adds the objects at the path to `found`; `@` stands for each item of a list. */
export const objectsAt = (
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
export const compileRequires = (
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
export interface EntityRequest {
  readonly representations: DataObject[];
  readonly standsFor: number[][];
}

/** Collects the distinct representations. Objects without one are left out. */
export const distinctRepresentations = (
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

/** The fetches of a plan. */
export const fetchesOf = (node: PlanNode | SubscriptionNode): readonly FetchNode[] => {
  switch (node.kind) {
    case 'Fetch':
      return [node];
    case 'Flatten':
      return fetchesOf(node.node);
    case 'Sequence':
    case 'Parallel':
      return node.nodes.flatMap(fetchesOf);
    case 'Condition':
    case 'Defer':
    case 'Subscription':
      return [];
  }
};

/** The errors of an entity fetch, each repeated for every place of its entity. */
export const entityErrors = (
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
