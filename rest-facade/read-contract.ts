/**
 * Reads the OpenAPI description from `schema/generated/contract.json`. Requests are validated by
 * it, and `/v1/public/openapi.json` serves it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The description of the API as its documentation reads it, with every reference in its place. */
interface Content {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}
type Contents = Readonly<Record<string, Content>>;

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: Schema;
  readonly description?: string;
  readonly example?: unknown;
}

export interface DescribedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Contents };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Contents }>
  >;
}

export interface Described {
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
    readonly 'x-changes': readonly { readonly date: string; readonly changes: readonly string[] }[];
  };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: DescribedOperation }>>;
}

/** The examples of a body, each with its type. */
export const examplesOf = (
  contents: Contents,
): readonly { readonly type: string; readonly value: unknown }[] =>
  Object.entries(contents).flatMap(([type, { example, examples }]) =>
    example === undefined
      ? Object.values(examples ?? {}).map(({ value }) => ({ type, value }))
      : [{ type, value: example }],
  );

/** The part of JSON Schema that the description uses. */
export interface Schema {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: unknown;
  /**
   * What a field of a body means when it is left out. Not `default`: generators make a field with a
   * default required in their types.
   */
  readonly 'x-default'?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  /** Never repeated in a message. */
  readonly writeOnly?: boolean;
  /** The expectation in words, where the keywords would not describe it well. */
  readonly 'x-expected'?: string;
}

/** One operation, with every reference put in its place. */
export interface ContractOperation {
  readonly operationId: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** Null: there is no body. */
  readonly body: { readonly required: boolean; readonly schema: Schema } | null;
  /** By status; null where there is no JSON. */
  readonly responses: Readonly<Record<string, Schema | null>>;
}

export interface Contract {
  /** The document as it is served. */
  readonly document: Readonly<Record<string, unknown>>;
  /** The same, with every reference put in its place. */
  readonly described: Described;
  readonly operations: ReadonlyMap<string, ContractOperation>;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const find = (document: unknown, reference: string): unknown => {
  let found = document;
  for (const step of reference.replace('#/', '').split('/'))
    found = isObject(found) ? found[step.replaceAll('~1', '/')] : undefined;
  if (found === undefined)
    throw new Error(`the contract has a reference that leads nowhere: ${reference}`);
  return found;
};

/** The document with every `$ref` replaced by its target. References form no circle. */
const dereference = (document: unknown): unknown => {
  const known = new Map<string, unknown>();
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (!isObject(value)) return value;
    const reference = value['$ref'];
    if (typeof reference !== 'string')
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, walk(item)]));
    if (!known.has(reference)) known.set(reference, walk(find(document, reference)));
    return known.get(reference);
  };
  return walk(document);
};

const jsonSchema = (content: Contents | undefined): Schema | null =>
  content?.['application/json']?.schema ?? null;

const readOperation = (
  path: string,
  method: 'GET' | 'POST',
  raw: DescribedOperation,
): ContractOperation => {
  const bodySchema = jsonSchema(raw.requestBody?.content);
  return {
    operationId: raw.operationId,
    method,
    path,
    parameters: raw.parameters,
    body: bodySchema && { required: raw.requestBody?.required ?? false, schema: bodySchema },
    responses: Object.fromEntries(
      Object.entries(raw.responses).map(([status, { content }]) => [status, jsonSchema(content)]),
    ),
  };
};

/** Reads the description. Throws if it cannot be read or a reference leads nowhere. */
export const readContract = (): Contract => {
  const document: unknown = JSON.parse(
    readFileSync(join(import.meta.dirname, '../schema/generated/contract.json'), 'utf8'),
  );
  // The cast is safe: a test checks the committed file against the OpenAPI schema.
  const described = dereference(document) as Described;
  const operations = Object.entries(described.paths).flatMap(([path, { get, post }]) => [
    ...(get ? [readOperation(path, 'GET', get)] : []),
    ...(post ? [readOperation(path, 'POST', post)] : []),
  ]);
  return {
    document: document as Contract['document'],
    described,
    operations: new Map(operations.map((operation) => [operation.operationId, operation])),
  };
};

/** The names of all fields that bodies and answers have. */
export const namesOf = ({ operations }: Contract): ReadonlySet<string> => {
  const names = new Set<string>();
  const walk = (schema: Schema | null | undefined): void => {
    if (!schema) return;
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      names.add(name);
      walk(field);
    }
    walk(schema.items);
    for (const variant of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) walk(variant);
  };
  for (const { body, responses } of operations.values()) {
    walk(body?.schema);
    for (const answer of Object.values(responses)) walk(answer);
  }
  return names;
};
