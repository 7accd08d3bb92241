import { test } from 'node:test';
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { createConfig, lint } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { guideTables } from '../../rest-facade/guides/read-guide.ts';
import { readContract, type Schema, examplesOf } from '../../rest-facade/read-contract.ts';
import { readText } from '../tidy/tree.ts';

const file = join(import.meta.dirname, '../../schema/generated/contract.json');

test('the contract is clean under the recommended rules of Redocly', async () => {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lint({ ref: file, config });
  assert.deepEqual(
    problems.map(
      ({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer}: ${message}`,
    ),
    [],
  );
});

test('the rules would notice: a response that names no schema', async () => {
  const { lintFromString } = await import('@redocly/openapi-core');
  const config = await createConfig({ extends: ['recommended'] });
  const source =
    'openapi: 3.1.0\ninfo: { title: x, version: "1" }\npaths: { /a: { get: { responses: { "200": { $ref: "#/nowhere" } } } } }\n';
  assert.notEqual((await lintFromString({ source, config })).length, 0);
});

/** Objects in a schema, with the path to them. */
const objectsIn = (schema: Schema, path: string): [string, Schema][] => {
  const below = [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
      objectsIn(field, `${path}.${name}`),
    ),
    ...(schema.items ? objectsIn(schema.items, `${path}[]`) : []),
  ];
  return schema.properties ? [[path, schema], ...below] : below;
};

/**
 * A payout's recipient has the fields of its method alone; lists, events and webhooks have no
 * addresses of pages.
 */
const mayBeAbsent = [
  'fee',
  'fee_rate_bps',
  'net',
  'phone',
  'bank_id',
  'account_number',
  'bik',
  'inn',
  'full_name',
  'payment_url',
  'pay_url',
];
/** Lists that are answered whole, and in pages when that is asked for. */
const wholeOrPage = ['ListSubscriptions 200', 'ListTokens 200'];

test('every field of an answer is always present, but for those of a payment that has not succeeded', () => {
  let seen = 0;
  for (const { operationId, responses } of readContract().operations.values()) {
    for (const [status, schema] of Object.entries(responses)) {
      if (!schema || !status.startsWith('2')) continue;
      for (const [path, object] of objectsIn(schema, `${operationId} ${status}`)) {
        const optional = Object.keys(object.properties ?? {}).filter(
          (name) =>
            !object.required?.includes(name) &&
            !mayBeAbsent.includes(name) &&
            !(wholeOrPage.includes(path) && name === 'next_cursor'),
        );
        assert.deepEqual(optional, [], path);
        seen += 1;
      }
    }
  }
  assert(seen > 50, `${seen} objects were looked at`);
});

test('every error status of every operation has the one envelope', () => {
  let seen = 0;
  for (const { operationId, responses } of readContract().operations.values()) {
    for (const [status, schema] of Object.entries(responses)) {
      if (status.startsWith('2')) continue;
      assert.deepEqual(
        schema?.properties?.['error']?.required,
        ['code', 'message'],
        `${operationId} ${status}`,
      );
      seen += 1;
    }
    for (const status of ['400', '401', '403', '429', '500', '503'])
      assert(status in responses, `${operationId} lacks ${status}`);
  }
  assert(seen > 150, `${seen} answers were looked at`);
});

/** Answers without an id that are the object itself. */
const withoutId =
  'GetBalance GetSubscriptionSchedule CreateCustomerSession CancelPayment CancelSubscription CancelToken';

test('every envelope of an answer stands in the table of the guides', () => {
  for (const language of ['en', 'ru'] as const) {
    const table = guideTables.envelopes(language);
    for (const { operationId, method, path, responses } of readContract().operations.values()) {
      const fields = (responses['201'] ?? responses['200'])?.properties;
      if (!fields) continue;
      const isEnvelope = !('id' in fields) && !withoutId.split(' ').includes(operationId);
      const call = `\`${method} ${path.replace('/v1/public', '')}\``;
      assert.equal(table.includes(call), isEnvelope, call);
    }
  }
});

test('every field with the reason of a failure stands in the table of the guides, and leads to it', () => {
  const { components } = JSON.parse(readText('schema/generated/contract.json'));
  const guides = ['en', 'ru'].map((language) =>
    readText(`rest-facade/guides/${language}/errors.md`),
  );
  const names = ['fail_reason', 'failure_reason', 'failure_code'];
  let seen = 0;
  for (const [schema, { properties = {} }] of Object.entries<Schema>(components.schemas))
    for (const [name, { description }] of Object.entries(properties)) {
      if (!names.includes(name)) continue;
      seen += 1;
      assert.match(description ?? '', /\(\/docs\/en\/errors\/#reasons-of-failures\)/, schema);
      const row = new RegExp(`^\\| \`${schema}\`.*\\| \`${name}\` \\|`, 'm');
      for (const guide of guides) assert.match(guide, row);
    }
  assert.equal(seen, 5);
});

test('every schema of an answer compiles', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  for (const { responses } of readContract().operations.values()) {
    for (const schema of Object.values(responses)) if (schema) ajv.compile(schema);
  }
});

test('no field of a body has a default, which generators make required; the words say what is meant without it', () => {
  const bodies = [...readContract().operations.values()].flatMap(({ operationId, body }) =>
    (body ? (body.schema.anyOf ?? body.schema.oneOf ?? [body.schema]) : []).flatMap((schema) =>
      objectsIn(schema, operationId),
    ),
  );
  const fields = bodies.flatMap(([path, { properties = {} }]) =>
    Object.entries(properties).map(([name, field]) => ({ path: `${path}.${name}`, field })),
  );
  assert.deepEqual(
    fields.filter(({ field }) => 'default' in field).map(({ path }) => path),
    [],
  );
  const left = fields.filter(({ field }) => field['x-default'] !== undefined);
  assert(left.length >= 14, `${left.length} fields may be left out`);
  for (const { path, field } of left)
    assert.ok(field.description?.includes(`\`${String(field['x-default'])}\` when left out`), path);
});

interface Described {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<Record<string, { readonly responses: Readonly<Record<string, Referred>> }>>
    >
  >;
  readonly components: { readonly responses: Readonly<Record<string, Referred>> };
}
interface Referred {
  readonly $ref?: string;
  readonly headers?: object;
}

test('every answer names the headers of the rate limit', () => {
  // The file that is committed beside this test; the first test of this file holds it to the
  // OpenAPI schema.
  const { paths, components } = readContract().document as unknown as Described;
  let seen = 0;
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, { responses }] of Object.entries(item)) {
      for (const [status, response] of Object.entries(responses)) {
        const { headers = {} } = response.$ref
          ? (components.responses[response.$ref.split('/').at(-1) ?? ''] ?? {})
          : response;
        const named = Object.keys(headers).filter((name) => name.startsWith('RateLimit-'));
        assert.deepEqual(
          named,
          ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'],
          `${method} ${path} ${status}`,
        );
        seen += 1;
      }
    }
  }
  assert(seen > 200, `${seen} answers were looked at`);
});

test('every body, answer and webhook has an example', () => {
  // The first test of this file holds each to its schema.
  const { paths, webhooks } = readContract().described;
  const items = [...Object.values(paths), ...Object.values(webhooks)];
  const bodies = items
    .flatMap((item) => Object.values(item))
    .flatMap(({ operationId, requestBody, responses }) => [
      { of: `${operationId} body`, content: requestBody?.content ?? {} },
      ...Object.entries(responses).map(([status, { content = {} }]) => ({
        of: `${operationId} ${status}`,
        content,
      })),
    ])
    .flatMap(({ of, content }) =>
      Object.entries(content).map(([type, one]) => ({
        of: `${of} ${type}`,
        seen: examplesOf({ [type]: one }).length,
      })),
    );
  assert.ok(bodies.length > 300, `${bodies.length} bodies were looked at`);
  assert.deepEqual(
    bodies.filter(({ seen }) => seen === 0).map(({ of }) => of),
    [],
  );
  for (const [event, { post }] of Object.entries(webhooks))
    assert.deepEqual(
      examplesOf(post.requestBody?.content ?? {}).map(({ value }) => (value as any).event),
      [event],
    );
});
