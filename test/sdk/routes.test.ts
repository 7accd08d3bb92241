/** The SDK against the API's description: every route has a method, every field has its place. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import contract from '../../schema/generated/contract.json' with { type: 'json' };
import { List, openPaymentClient, StreamEnded } from '../../sdk/src/index.ts';

interface Asked {
  readonly route: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: string | null;
}

const textOf = (body: unknown): string | null => (typeof body === 'string' ? body : null);

const id = 'pay/1?x';
const encodedId = encodeURIComponent(id);

/** A client whose calls are recorded and answered with nothing. */
const openRecorder = () => {
  const asked: Asked[] = [];
  const client = openPaymentClient({
    apiKey: 'sk_test_000000_x',
    baseUrl: 'https://pay.example',
    fetch: async (address, { method, headers, body } = {}) => {
      const { pathname, searchParams } = new URL(new Request(address).url);
      assert.ok(pathname.startsWith('/v1/'), pathname);
      const route = `${method} ${pathname.replace(encodedId, '{id}')}`;
      const given = new Headers(headers);
      asked.push({ route, query: searchParams, headers: given, body: textOf(body) });
      return given.get('accept') === 'text/event-stream'
        ? new Response(': connected\n: revoked\n')
        : Response.json({ items: [] });
    },
  });
  return { client, asked };
};

type Method = (...given: readonly unknown[]) => unknown;

/** Every method of the client, by its name, with its group. */
const methodsOf = (client: object): readonly (readonly [name: string, Method])[] =>
  Object.entries(client).flatMap(([group, methods]: [string, Record<string, Method>]) =>
    Object.entries(methods).map(([name, method]) => [`${group}.${name}`, method] as const),
  );

/** Calls a method, so that its request is sent. */
const call = async (method: Method, ...given: readonly unknown[]): Promise<void> => {
  const answer: any = method(...given);
  if (answer instanceof List) await answer.page();
  else if (typeof answer.next === 'function')
    await assert.rejects(answer.next(), (error) => error instanceof StreamEnded);
  else await answer;
};

interface Parameter {
  readonly $ref?: string;
  readonly name?: string;
  readonly in?: string;
  readonly schema?: { readonly type?: string };
}
interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: unknown;
}

const parameters: Readonly<Record<string, Parameter>> = contract.components.parameters;
const resolved = (parameter: Parameter): Parameter =>
  parameters[parameter.$ref?.split('/').at(-1) ?? ''] ?? parameter;

const described = Object.entries(contract.paths).flatMap(([path, operations]) =>
  Object.entries(operations as Record<string, Operation>).map(([method, operation]) => ({
    route: `${method.toUpperCase()} ${path}`,
    parameters: (operation.parameters ?? []).map(resolved),
    hasBody: operation.requestBody !== undefined,
  })),
);

/** Each route with the method that calls it. */
const methodOfRoute = async (): Promise<Map<string, Method>> => {
  const { client, asked } = openRecorder();
  const found = new Map<string, Method>();
  for (const [, method] of methodsOf(client)) {
    await call(method, id, {});
    const route = asked.at(-1)?.route ?? '';
    // The ledger's file is a second way to call a route.
    if (!found.has(route)) found.set(route, method);
  }
  return found;
};

describe('the SDK', () => {
  test('has a method for every route of the description, and none for another', async (t) => {
    const routes = await methodOfRoute();
    t.diagnostic(`${routes.size} routes`);
    assert.ok(described.length > 25);
    assert.deepEqual([...routes.keys()].toSorted(), described.map(({ route }) => route).toSorted());
  });

  test('sends every parameter, lists as the description wants them, and no other header than its own', async () => {
    const { client, asked } = openRecorder();
    const names = [...(await methodOfRoute()).keys()];
    const methods = methodsOf(client);
    const first = methods.filter(([name]) => name !== 'ledger.csv').map(([, method]) => method);
    for (const { route, parameters: wanted, hasBody } of described) {
      const method = first[names.indexOf(route)];
      assert.ok(method, route);
      const query = Object.fromEntries(
        wanted
          .filter((parameter) => parameter.in === 'query' && parameter.name !== 'format')
          .map(({ name, schema }) => [name, schema?.type === 'array' ? ['a', 'b'] : 'a']),
      );
      const body = { amount: 1, metadata: { 'a,b': 'é' } };
      const rest = hasBody ? [body] : route.startsWith('GET') ? [query] : [];
      await call(method, ...(route.includes('{id}') ? [id, ...(hasBody ? [body] : [])] : rest));
      const sent = asked.at(-1);
      assert.equal(sent?.route, route);
      const isRead = route.includes('{id}') || hasBody || route.includes('/events');
      const listed = Object.entries(query).map(([name, value]) => [name, String(value)]);
      if (!isRead) assert.deepEqual([...(sent?.query ?? [])], listed, route);
      assert.equal(sent?.body, hasBody ? JSON.stringify(body) : null, route);
      const takesKey = wanted.some(({ name }) => name === 'Idempotency-Key');
      assert.equal(sent?.headers.has('idempotency-key'), takesKey, route);
    }
  });

  test('has every object of the description, with every field', (t) => {
    const generated = readFileSync(
      join(import.meta.dirname, '../../sdk/src/generated/api.ts'),
      'utf8',
    );
    const [, objects = ''] = generated.split('\n    schemas: {\n');
    const schemas = Object.entries(contract.components.schemas);
    const fields = schemas.flatMap(([name, schema]) => {
      const properties = 'properties' in schema ? schema.properties : {};
      const [, rest = ''] = `\n${objects}`.split(`\n        ${name}: `);
      const [block = ''] = rest.split(/\n {8}(?! )\S*: /);
      return Object.keys(properties).map((field) => ({
        field: `${name}.${field}`,
        found: new RegExp(`"?\\b${field}"?\\??: `).test(block),
      }));
    });
    t.diagnostic(`${schemas.length} objects, ${fields.length} fields`);
    assert.ok(fields.length > 200);
    assert.deepEqual(
      fields.filter(({ found }) => !found).map(({ field }) => field),
      [],
    );
  });

  test('refuses keys, addresses and ids that cannot be meant, before it calls', () => {
    const good = { apiKey: 'sk_test_000000_x', baseUrl: 'https://pay.example' };
    for (const wrong of [{ apiKey: '' }, { apiKey: 'whs_1' }, { baseUrl: 'file:///x' }])
      assert.throws(() => openPaymentClient({ ...good, ...wrong }), TypeError);
    const client = openPaymentClient(good);
    assert.throws(() => client.payments.get(''), TypeError);
    assert.throws(() => client.payments.refund(''), TypeError);
  });
});
