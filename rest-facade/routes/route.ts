/**
 * A row of the table of routes, and the reading of a request to it. The row names the operation
 * behind the route, the root field whose access row holds the scopes, how a request becomes
 * variables, and how data becomes an answer. Reading gives the request as the operation takes it, or
 * what is wrong with it: version, id, query, body, idempotency key, in this order.
 */
import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import * as v from 'valibot';
import { headerValues } from '../../subgraphs/platform/access/caller-address.ts';
import { isCompressed, identityOnly, readBody } from '../../gateway/graphql/raw-body.ts';
import type { ContractOperation, Parameter, Schema } from '../read-contract.ts';
import { refuse, refuseMistakes, type Refusal } from '../refusal-http.ts';
import { compileBody, camelCase, compileSchema } from '../validate-body.ts';
import { isCanonicalUuid } from '../../subgraphs/rules/ids.ts';
import { asCame, type FieldMistake } from '../../subgraphs/rules/refusal.ts';
import type { OperationMap, OperationName } from '../../schema/generated/operation-map.ts';
import type { Idempotency } from '../../schema/generated/operations.ts';
import type { access } from '../../subgraphs/platform/access/access.ts';
import type { KeyPrincipal, Scope } from '../../subgraphs/platform/access/principal.ts';

/** A valid request. Fields of body and query are camelCase, and defaults are filled in. */
export interface ValidRequest<Body, Query = Empty> {
  /** The `{id}` of the path, lower case, with its prefix; '' where there is none. */
  readonly id: string;
  readonly body: Body;
  readonly query: Query;
  /** Null without the header. */
  readonly idempotency: Idempotency | null;
}

/** A request without a body. */
export type Asking<Query> = ValidRequest<Empty, Query>;
/** A request whose body has the other arguments of an operation. */
export type Giving<Variables> = ValidRequest<Omit<Variables, 'id' | 'paymentId' | 'idempotency'>>;

/** What the merchant gets. */
export interface Answer {
  readonly status: 200 | 201;
  readonly body: object;
  /** A replay has the header Idempotent-Replayed. */
  readonly replayed: boolean;
}

/** Data in which no mutation has refused. */
type Made<Data> = {
  readonly [Field in keyof Data]: Exclude<Data[Field], { readonly __typename: 'Refused' }>;
};

/** Null: there is no such object. */
export type Outcome = Answer | null;

/** A row as the facade runs it: any operation, any request. */
export interface Route {
  readonly method: 'GET' | 'POST';
  /** OpenAPI style: `/v1/public/payments/{id}`. */
  readonly path: string;
  readonly operation: OperationName | 'StreamEvents';
  /** The row of the access table. */
  readonly field: keyof typeof access;
  /** The prefix before the UUID of the path's `{id}`: `evt_`. Absent: none. */
  readonly idPrefix?: string;
  /** The form of the path's `{id}`, with its case, where it is no UUID. Absent: a UUID. */
  readonly idForm?: RegExp;
  /** What else names the route's object, in lower case: the public number of a payment. */
  readonly otherId?: RegExp;
  /** Whether the route accepts Idempotency-Key. */
  readonly idempotent: boolean;
  /** 256 KiB, a batch 1 MiB. */
  readonly bodyLimit_bytes: number;
  /**
   * json: one operation, one answer. list: one answer out of as many pages of the operation as
   * there are. ledger: json, or a CSV file. stream: server-sent events.
   */
  readonly kind: 'json' | 'list' | 'ledger' | 'stream';
  /**
   * A scope that the body decides, in addition to those of the access row, as for payouts by
   * method.
   */
  readonly bodyScope?: (body: unknown) => Scope | null;
  /** The argument that the body is as a whole: paths of wrong fields leave out its name. */
  readonly bodyIsArgument?: string;
  readonly variables: (request: ValidRequest<never, never>) => Readonly<Record<string, unknown>>;
  /** Only of what is no refusal: `server.ts` answers those. */
  readonly answer: (data: never, request: ValidRequest<never, never>) => Outcome;
}

type Details = Omit<Route, 'method' | 'path' | 'operation' | 'field' | 'variables' | 'answer'>;

interface Row<Name extends OperationName, Body, Query> extends Partial<Details> {
  readonly variables: (request: ValidRequest<Body, Query>) => OperationMap[Name]['variables'];
  readonly answer: (
    data: Made<OperationMap[Name]['result']>,
    request: ValidRequest<Body, Query>,
  ) => Outcome;
}

export const bodyLimit_bytes = 256 * 1_024;
export const batchBodyLimit_bytes = 1_024 * 1_024;

export const row = <Name extends OperationName, Body = Empty, Query = Empty>(
  method: Route['method'],
  path: `/${string}`,
  operation: Name,
  field: Route['field'],
  of: Row<Name, Body, Query>,
): Route => ({
  method,
  path: `/v1/public${path}`,
  operation,
  field,
  idempotent: false,
  bodyLimit_bytes,
  kind: 'json',
  ...of,
});

type Empty = Readonly<Record<never, never>>;
export interface Page<Status = never> {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly from?: string;
  readonly to?: string;
  readonly status?: Status[];
}
/** Moments between which the rows of a page were made, and further fields of its list's filter. */
export type Narrowed<Fields = Empty> = Partial<Fields> & {
  readonly createdFrom?: string;
  readonly createdTo?: string;
};

export const ok = (body: object): Answer => ({ status: 200, body, replayed: false });
export const created = (body: object, idempotent: boolean): Answer => ({
  status: idempotent ? 200 : 201,
  body,
  replayed: idempotent,
});
export const cancelled = ok({ status: 'cancelled' });
interface Connection<Node> {
  readonly nodes: readonly Node[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}
/** A page of a list. `json` writes what the operation cannot. */
export const paged = <Node extends object>(
  { nodes, pageInfo }: Connection<Node>,
  json: (node: Node) => object = (node) => node,
): Answer =>
  ok({ items: nodes.map(json), next_cursor: pageInfo.hasNextPage ? pageInfo.endCursor : null });
/** The filter of a list; null where the query narrows nothing, which is the registry's own page. */
export const filterOf = <Fields extends object>(fields: Fields): Fields | null =>
  Object.values(fields).some((value) => value !== undefined) ? fields : null;
export const narrowed = <Fields extends object>(
  { createdFrom, createdTo }: Narrowed,
  fields: Fields,
) => filterOf({ ...fields, since: createdFrom, until: createdTo });
export const pageVariables = <Status>({ limit, cursor, from, to, status }: Page<Status>) => ({
  first: limit,
  after: cursor,
  from,
  to,
  status,
});
/** The variables of an operation that takes the body as it is. */
export const bodyAsInput = <Body>({ body, idempotency }: ValidRequest<Body>) => ({
  input: body,
  idempotency,
});

// Query strings: unknown parameters, values, and bounds that contradict each other.

type Values = Readonly<Record<string, unknown>>;

type ReadQuery =
  | { readonly query: Record<string, unknown> }
  | { readonly mistakes: readonly FieldMistake[] };

/** A text as the schema's type, where it is one; else as it is, for validation to refuse. */
const typed = (text: string, schema: Schema): unknown => {
  if (schema.type !== 'integer') return text;
  return /^(?:0|[1-9]\d{0,8})$/.test(text) ? Number(text) : text;
};

const unusable = (text: string): boolean => text.includes('\0') || !text.isWellFormed();

/** The value of a parameter that was sent, as its schema takes it; or what is wrong with it. */
const readValue = (
  sent: unknown,
  { name, schema }: Parameter,
): { readonly value: unknown } | FieldMistake => {
  const texts = [sent].flat().filter((text) => typeof text === 'string');
  if (texts.some(unusable)) return { path: name, message: 'not a valid text' };
  // Clients write a list with commas, with the parameter once for each value, or with both.
  if (schema.type === 'array') return { value: texts.flatMap((text) => text.split(',')) };
  const [text] = texts;
  if (text === undefined || texts.length > 1)
    return { path: name, message: 'expected once, got several' };
  return { value: typed(text, schema) };
};

/**
 * Compiles the query's rules. The reader gives the parameters with GraphQL's names and the
 * contract's defaults, or what is wrong.
 */
const compileQuery = (parameters: readonly Parameter[]): ((values: Values) => ReadQuery) => {
  const known = parameters.filter((parameter) => parameter.in === 'query');
  const rules = known.map((parameter) => ({
    parameter,
    camel: camelCase(parameter.name),
    check: compileSchema(parameter.schema, parameter.name),
  }));
  const names = new Set(known.map(({ name }) => name));
  return (values) => {
    const mistakes = Object.keys(values)
      .filter((name) => !names.has(name))
      .map((name) => unknownParameter(name, names));
    const query: Record<string, unknown> = {};
    for (const { parameter, camel, check } of rules) {
      const { name, schema } = parameter;
      const sent = values[name];
      if (sent === undefined) {
        if (schema.default !== undefined) query[camel] = schema.default;
        continue;
      }
      const read = readValue(sent, parameter);
      if ('value' in read) {
        mistakes.push(...check(read.value));
        query[camel] = read.value;
      } else mistakes.push(read);
    }
    if (!mistakes.some(({ path }) => bounds.has(path))) mistakes.push(...spanMistakes(query));
    return mistakes.length > 0 ? { mistakes } : { query };
  };
};

/** The bounds of a time span: days or moments. */
const bounds: ReadonlySet<string> = new Set(['from', 'to', 'created_from', 'created_to']);

/** Mistakes of valid bounds that contradict each other. */
const spanMistakes = ({ from, to, createdFrom, createdTo }: Values): readonly FieldMistake[] => {
  if ((createdFrom ?? createdTo) !== undefined && (from ?? to) !== undefined) {
    const path = createdFrom === undefined ? 'created_to' : 'created_from';
    const other = from === undefined ? 'to' : 'from';
    return [{ path, message: `not together with ${other}: expected moments or days` }];
  }
  if (typeof from === 'string' && typeof to === 'string' && from > to)
    return [{ path: 'from', message: `expected a day not after to (${to}), got "${from}"` }];
  return typeof createdFrom === 'string' &&
    typeof createdTo === 'string' &&
    Temporal.Instant.compare(createdFrom, createdTo) > 0
    ? [
        {
          path: 'created_from',
          message: `expected a moment not after created_to (${createdTo}), got "${createdFrom}"`,
        },
      ]
    : [];
};

const unknownParameter = (name: string, known: ReadonlySet<string>): FieldMistake => {
  const shown =
    /^[\w.[\]-]{1,40}$/.test(name) && !/\d{6}|sk_|thm_|whs_/.test(name) ? name : 'a parameter';
  const expected = [...known].join(', ') || 'none';
  return { path: shown, message: `unknown query parameter, expected ${expected}` };
};

export type AnyRequest = ValidRequest<Values, Values>;

const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`).join(',')}}`;
};

/**
 * The hex SHA-256 of method, path and the parsed body (docs/contract.md#what-is-compared).
 * Validation has bounded the depth of the body. No body equals an empty one.
 */
const fingerprint = (asked: string, body: unknown): string =>
  hash('sha256', `${asked}\n${canonical(body ?? {})}`);

/** See docs/contract.md#limits. */
const idempotencyKey = /^[\x20-\x7e]{1,64}$/;
const json = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?;?$/i;

const mediaTypeMistake = (request: FastifyRequest): Refusal | null => {
  const { 'content-type': type } = request.headers;
  if (isCompressed(request))
    return {
      ...refuse('unsupported_media_type', 'Content-Encoding: expected none'),
      headers: identityOnly,
    };
  if (type !== undefined && json.test(type)) return null;
  const got =
    type === undefined
      ? 'none'
      : (/^[\w.+-]+\/[\w.+-]+/.exec(type)?.[0].slice(0, 64) ?? 'something else');
  // The right type with a parameter that is not read, such as another charset.
  const parameters = got.toLowerCase() === 'application/json' ? ' with other parameters' : '';
  return refuse(
    'unsupported_media_type',
    `Content-Type: expected application/json in UTF-8, got ${got}${parameters}`,
  );
};

/** The body as sent, before the contract is asked: undefined without one. */
const parsedBody = (
  request: FastifyRequest,
  operation: ContractOperation,
): { readonly value: unknown } | Refusal => {
  const bytes = request.body;
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) {
    return operation.body?.required
      ? refuse('bad_request', 'the body: required, expected a JSON object, got nothing')
      : { value: undefined };
  }
  const mistake = mediaTypeMistake(request);
  if (mistake) return mistake;
  const read = readBody(bytes);
  return 'mistake' in read ? refuse('bad_request', read.mistake) : read;
};

const readIdempotency = (
  request: FastifyRequest,
  route: Route,
  id: string,
  body: unknown,
): Idempotency | null | Refusal => {
  const key = request.headers['idempotency-key'];
  if (!route.idempotent || key === undefined) return null;
  if (headerValues(request.raw, 'idempotency-key').length > 1)
    return refuse('bad_request', 'Idempotency-Key: expected once, got several');
  if (typeof key !== 'string' || !idempotencyKey.test(key)) {
    return refuse(
      'bad_request',
      `Idempotency-Key: expected 1 to 64 printable ASCII characters, got ${key.length} characters`,
    );
  }
  const asked = `${route.method} ${route.path.replace('{id}', id)}`;
  // The id of the call is what a conflict names the first use by.
  return { key, fingerprint: fingerprint(asked, body), request: `${asked} ${request.id}` };
};

const withId = v.object({ id: v.string() });
/** The name of an object in a request's path; '' without one. */
export const idOf = ({ params }: FastifyRequest): string => (v.is(withId, params) ? params.id : '');

/**
 * The id of one of the route's objects: a UUID after the prefix, or the other name of such an
 * object, in lower case, or in the form that the route states. Null if it is none.
 */
const ownIdOf = ({ idPrefix = '', idForm, otherId }: Route, named: string): string | null => {
  if (idForm) return idForm.test(named) ? named : null;
  const id = named.toLowerCase();
  const isUuid = id.startsWith(idPrefix) && isCanonicalUuid(id.slice(idPrefix.length));
  return isUuid || otherId?.test(id) === true ? id : null;
};

/** The scope that a body decides, as far as it can be read before its rules are asked. */
export const bodyScopeOf = ({ bodyScope }: Route, { body }: FastifyRequest): Scope | null => {
  if (!bodyScope || !Buffer.isBuffer(body) || body.length === 0) return null;
  const read = readBody(body);
  return 'mistake' in read ? null : bodyScope(read.value);
};

export const lacksScope = (scope: Scope): Refusal =>
  refuse('scope_required', `the key lacks the scope ${scope}`);

/** The dates of the API that a request may name. */
const versionsOf = ({ operationId, parameters }: ContractOperation): readonly unknown[] => {
  const known = parameters.find(({ name }) => name === 'X-Api-Version')?.schema.enum;
  if (!known) throw new Error(`${operationId} does not say which dates of the API it knows`);
  return known;
};

/** Refuses another date; null for a known one, and without any. */
const unknownVersion = (named: readonly string[], known: readonly unknown[]): Refusal | null => {
  const unknown = named.find((date) => !known.includes(date));
  if (unknown === undefined) return null;
  const expected = known.join(', ');
  return refuse(
    'bad_request',
    `X-Api-Version: expected one of ${expected}, got ${asCame(unknown)}`,
  );
};

/**
 * Compiles a route's rules; the reader also checks the scope that a body decides, as soon as the
 * body can be read.
 */
export const compileRequest = (
  route: Route,
  operation: ContractOperation,
): ((request: FastifyRequest, principal: KeyPrincipal) => AnyRequest | Refusal) => {
  const hasId = route.path.includes('{id}');
  const versions = versionsOf(operation);
  const query = compileQuery(operation.parameters);
  const body = compileBody(operation.body?.schema ?? null);
  return (request, principal) => {
    const unknown = unknownVersion(headerValues(request.raw, 'x-api-version'), versions);
    if (unknown) return unknown;
    const parsed = parsedBody(request, operation);
    if ('code' in parsed && 'message' in parsed) return parsed;
    const scope = route.bodyScope?.(parsed.value) ?? null;
    if (scope !== null && !principal.scopes.includes(scope)) return lacksScope(scope);
    const id = hasId ? ownIdOf(route, idOf(request)) : '';
    if (id === null) return refuse('not_found', 'there is no such object');
    // Fastify parses the query into an object of texts, and of lists where a name comes twice.
    const readQuery = query(request.query as Values);
    const fields = parsed.value === undefined ? {} : body.meant(parsed.value);
    const mistakes = body.check(fields);
    if ('mistakes' in readQuery) return refuseMistakes([...readQuery.mistakes, ...mistakes]);
    if (mistakes.length > 0) return refuseMistakes(mistakes);
    const idempotency = readIdempotency(request, route, id, fields);
    if (idempotency && 'code' in idempotency) return idempotency;
    return { id, query: readQuery.query, body: body.shape(fields as Values), idempotency };
  };
};
