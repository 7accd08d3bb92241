/**
 * A request as the operation takes it, or what is wrong with it: version, id, query, body,
 * idempotency key, in this order.
 */
import { hash } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import type { FastifyRequest } from 'fastify';
import * as v from 'valibot';
import type { Idempotency } from '../schema/generated/operations.ts';
import type { KeyPrincipal, Scope } from '../subgraphs/platform/access/principal.ts';
import { headerValues } from '../subgraphs/platform/access/caller-address.ts';
import {
  isCompressed,
  identityOnly,
  keepWritten,
  mayBeInexact,
  withoutMark,
  duplicateMistake,
} from '../gateway/graphql/raw-body.ts';
import type { ContractOperation, Parameter, Schema } from './read-contract.ts';
import { refuse, refuseMistakes, type Refusal } from './refusal-http.ts';
import type { Route, ValidRequest } from './routes/route.ts';
import { compileBody, camelCase, compileSchema } from './validate-body.ts';
import { isCanonicalUuid } from '../subgraphs/rules/ids.ts';
import { asCame, type FieldMistake } from '../subgraphs/rules/refusal.ts';

/* Validates query strings: unknown parameters, values, and bounds that contradict each other. */

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

/*
 * Parses bytes as JSON strictly: UTF-8, no duplicate fields, and numbers as they were written.
 * `1.0`, `1e2` and numbers beyond 2^53-1 are not integers, although JSON.parse would make integers
 * of them.
 */

/**
 * The value, or the mistake in the bytes as a whole. A number that is not written as a safe integer
 * is a symbol that holds its text: no schema accepts a symbol, so validation refuses it at its
 * place.
 */
type ReadBody = { readonly value: unknown } | { readonly mistake: string };

/**
 * A key or text that no record can hold: `__proto__`, NUL, half of a surrogate pair; escaped or
 * not.
 */
const maybeUnsafe = /__proto__|\\u00(?:00|5[fF])|\\u[dD][89a-fA-F]/;

class UnsafeText extends Error {}

const safe = (text: string): void => {
  if (text === '__proto__') throw new UnsafeText('the name __proto__ is not allowed');
  if (text.includes('\0')) throw new UnsafeText('the character U+0000 is not allowed in texts');
  if (!text.isWellFormed()) throw new UnsafeText('unpaired surrogates are not allowed in texts');
};

const exactly = (key: string, value: unknown, context?: { source?: string }): unknown => {
  safe(key);
  if (typeof value === 'string' && value !== '__proto__') safe(value);
  const kept = keepWritten(key, value, context);
  return typeof kept === 'number' && !Number.isSafeInteger(kept)
    ? Symbol(context?.source ?? String(kept))
    : kept;
};

/**
 * Reads a body that is not empty. The slow way, which sees each number as it was written, is taken
 * only when the text may need it.
 */
export const readBody = (bytes: Buffer): ReadBody => {
  if (!isUtf8(bytes)) return { mistake: 'the body is not valid UTF-8' };
  const text = withoutMark(bytes.toString('utf8'));
  try {
    const careful = mayBeInexact(text) || maybeUnsafe.test(text);
    const value: unknown = careful ? JSON.parse(text, exactly) : JSON.parse(text);
    const mistake = duplicateMistake(text);
    return mistake === null ? { value } : { mistake };
  } catch (error) {
    // The parser's own message repeats the text, which may hold a card number.
    return {
      mistake:
        error instanceof UnsafeText ? `the body: ${error.message}` : 'the body is not valid JSON',
    };
  }
};

type Fields = Readonly<Record<string, unknown>>;
export type AnyRequest = ValidRequest<Fields, Fields>;

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
    const readQuery = query(request.query as Fields);
    const fields = parsed.value === undefined ? {} : body.meant(parsed.value);
    const mistakes = body.check(fields);
    if ('mistakes' in readQuery) return refuseMistakes([...readQuery.mistakes, ...mistakes]);
    if (mistakes.length > 0) return refuseMistakes(mistakes);
    const idempotency = readIdempotency(request, route, id, fields);
    if (idempotency && 'code' in idempotency) return idempotency;
    return { id, query: readQuery.query, body: body.shape(fields as Fields), idempotency };
  };
};
