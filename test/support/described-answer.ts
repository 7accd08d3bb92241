/**
 * Holds the answers of the service to its own description: `schema/openapi.yaml` must name the
 * status, and the body must be what it says there, with no field more. Everything that a test asks
 * through `callRest` passes here.
 */
import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import {
  readContract,
  type ContractOperation,
  type Schema,
} from '../../rest-facade/read-contract.ts';

/** The same schema with no room for a field that it does not name. */
const closed = (schema: Schema): Schema => {
  const { properties, items, anyOf, oneOf } = schema;
  return {
    ...schema,
    ...(items ? { items: closed(items) } : {}),
    ...(anyOf ? { anyOf: anyOf.map(closed) } : {}),
    ...(oneOf ? { oneOf: oneOf.map(closed) } : {}),
    ...(properties
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, field]) => [name, closed(field)]),
          ),
          additionalProperties: false,
        }
      : {}),
  };
};

const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  formats: {
    int32: {
      type: 'number',
      validate: (value: number) => Number.isInteger(value) && Math.abs(value) < 2 ** 31,
    },
    int64: { type: 'number', validate: (value: number) => Number.isSafeInteger(value) },
    double: true,
    uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    // RFC 3339 in UTC.
    'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
    date: /^\d{4}-\d\d-\d\d$/,
    uri: (text: string) => URL.canParse(text),
    email: true,
    'iso-4217': /^[A-Z]{3}$/,
  },
});

interface DescribedRoute {
  readonly operation: ContractOperation;
  readonly path: RegExp;
}

const routes: readonly DescribedRoute[] = [...readContract().operations.values()]
  .map((operation) => ({
    operation,
    path: new RegExp(`^${operation.path.replace('{id}', '[^/]+')}$`),
  }))
  // `/payouts/batch` before `/payouts/{id}`.
  .toSorted(
    (one, other) =>
      Number(one.operation.path.includes('{')) - Number(other.operation.path.includes('{')),
  );

const validators = new WeakMap<Schema, ValidateFunction>();
const validatorOf = (schema: Schema): ValidateFunction => {
  const known = validators.get(schema) ?? ajv.compile(closed(schema));
  validators.set(schema, known);
  return known;
};

/** What every error of REST has: the envelope of docs/contract.md#errors. */
const envelope = ajv.compile({
  type: 'object',
  required: ['error'],
  additionalProperties: false,
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      additionalProperties: false,
      properties: { code: { type: 'string' }, message: { type: 'string', minLength: 1 } },
    },
  },
});

/**
 * Fails when an answer is not what the description says. `path` begins with `/v1/public`; `body` is
 * the parsed JSON, or null when the answer was none. What is no described route must be refused in
 * the envelope.
 */
export const assertDescribed = (
  method: string,
  path: string,
  { status, body }: { readonly status: number; readonly body: unknown },
): void => {
  const called = `${method} ${path} answered ${status} ${JSON.stringify(body)}`;
  const bare = path.replace(/\?.*$/, '');
  const route = routes.find(
    ({ operation, path: pattern }) => operation.method === method && pattern.test(bare),
  );
  if (!route) {
    if (body !== null && status >= 400) assert.ok(envelope(body), `${called}: not the envelope`);
    return;
  }
  const { operationId, responses } = route.operation;
  assert.ok(
    String(status) in responses,
    `${called}: ${operationId} describes only ${Object.keys(responses).join(', ')}`,
  );
  const schema = responses[status];
  if (!schema || body === null) return;
  const validate = validatorOf(schema);
  assert.ok(validate(body), `${called}: ${ajv.errorsText(validate.errors, { dataVar: 'body' })}`);
};
