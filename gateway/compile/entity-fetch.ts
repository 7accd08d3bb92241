/**
 * What an entity fetch of a compiled plan requests, and where its answer goes. Each distinct object at
 * a path is requested once (the stock gateway requests every occurrence), and the result is merged
 * into all occurrences.
 */
import type { QueryPlanSelectionNode } from '@apollo/query-planner';
import { GraphQLError } from 'graphql';
import { CannotCompile } from './answer-shape.ts';

export type DataObject = Record<string, unknown>;
type Path = readonly (string | number)[];

const isObject = (value: unknown): value is DataObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Merges a subgraph's data into what was batched before. */
export const merge = (target: DataObject, source: DataObject): void => {
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
export const pathsOfObjectsAt = (
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

/**
 * Merges `_entities` into the objects that they were requested for. Throws when the answer does not
 * match the request.
 */
export const mergeEntities = (
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
