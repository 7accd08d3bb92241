/**
 * What of a request is read as it was written: numbers, a byte order mark, names of parameters, a
 * slash at the end of an address.
 */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import {
  buildSchema,
  getNamedType,
  isInputObjectType,
  isObjectType,
  type GraphQLArgument,
  type GraphQLInputField,
} from 'graphql';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { makeMerchant, type Merchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';

let service: ServiceInUse;
let merchant: Merchant;
let headers: Record<string, string>;
before(async () => {
  service = await openPlainService();
  merchant = await makeMerchant(service);
  headers = { authorization: `Bearer ${merchant.key}`, 'content-type': 'application/json' };
});
after(() => service?.stop());

const inexact = ['1e2', '100.0', '1E+2', '10000000000000000e-14', '-1.0', '100.5'];
const made = '{ __typename ... on PaymentCreated { payment { amount } } ... on Refused { code } }';
const byVariable = `mutation ($input: PaymentCreateInput!) { paymentCreate(input: $input) ${made} }`;
const payments = async (): Promise<number> =>
  (await merchant.call('GET', '/payments')).body.items.length;

const post = async (text: string): Promise<readonly [number, any]> => {
  const answer = await fetch(`${service.graph}/graphql`, { method: 'POST', headers, body: text });
  return [answer.status, await answer.json()];
};
const sent = (variables: string): string =>
  `{"query":${JSON.stringify(byVariable)},"variables":${variables}}`;

describe('a number of the graph', () => {
  test('is an integer that is written as one, in variables and in literals, over HTTP and over sockets', async () => {
    const before = await payments();
    for (const number of inexact) {
      const [status, body] = await post(sent(`{"input":{"amount":${number}}}`));
      assert.deepEqual([status, body.errors[0].extensions.code], [400, 'bad_request'], number);
      assert.match(body.errors[0].message, /^variables\.input\.amount: expected an integer/);
      const literal = `mutation { paymentCreate(input: { amount: ${number} }) ${made} }`;
      const [refused, answer] = await post(JSON.stringify({ query: literal }));
      assert.deepEqual([refused, answer.errors[0].extensions.code], [400, 'bad_request'], number);
      assert.match(answer.errors[0].message, /expected an integer/);
    }
    const address = new URL('/graphql', service.graph);
    address.searchParams.set('query', 'query ($n: Int) { payments(first: $n) { nodes { id } } }');
    address.searchParams.set('variables', '{"n":1e0}');
    assert.equal((await fetch(address, { headers })).status, 400);

    const socket = createClient({
      url: `${service.graph.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { authorization: headers['authorization'] },
      retryAttempts: 0,
      // What JSON.stringify would never write.
      jsonMessageReplacer: (_, value: unknown) =>
        typeof value === 'string' && value.startsWith('raw:')
          ? JSON.rawJSON(value.slice('raw:'.length))
          : value,
    });
    const over = (number: string): Promise<any> =>
      new Promise((resolve) => {
        const variables = { input: { amount: `raw:${number}` } };
        socket.subscribe(
          { query: byVariable, variables },
          { next: resolve, error: resolve, complete: () => {} },
        );
      });
    for (const number of inexact) {
      const [error] = await over(number);
      assert.equal(error.extensions.code, 'bad_request', number);
      assert.match(error.message, /^variables\.input\.amount: expected an integer/);
    }
    assert.equal(await payments(), before, 'nothing was made');
    assert.equal((await over('100')).data.paymentCreate.payment.amount, 100);
    await socket.dispose();
    const [status, body] = await post(sent('{"input":{"amount":100,"description":"1e2: 1.0"}}'));
    assert.deepEqual([status, body.data.paymentCreate.payment.amount], [200, 100]);
  });

  test('is refused however deep the variables are, and looks like a number in a text', async () => {
    const deep = `${'['.repeat(20_000)}1e2${']'.repeat(20_000)}`;
    const [status, body] = await post(sent(`{"input":${deep}}`));
    assert.deepEqual([status, body.errors[0].extensions.code], [400, 'bad_request']);
    const text = '{"input":{"amount":100,"description":"a \\"[1e2, 1.0]"}}';
    assert.equal((await post(sent(text)))[1].data.paymentCreate.payment.amount, 100);
  });

  test('is in no message when it may be that of a card, wherever it was written', async () => {
    const card = '4111111111111111';
    const payout = (fields: string): string =>
      `mutation { payoutCreate(input: { ${fields} }) { __typename } }`;
    const bodies = [
      { query: payout(`amount: 1, cardPan: ${card}`) },
      { query: payout(`amount: ${card}999, cardPan: "1"`) },
      { query: payout(`amount: 1, method: "${card}"`) },
      { query: payout(`${card}: 1`) },
      { query: '{ __typename }', variables: { [card]: 1.5 } },
    ];
    for (const body of bodies) {
      const [, answer] = await post(JSON.stringify(body));
      const [{ message, extensions }] = answer.errors;
      assert.equal(extensions.code, 'bad_request', message);
      assert.doesNotMatch(JSON.stringify(answer), /\d{12}/);
    }
  });

  test('has no input that takes another one', () => {
    const schema = buildSchema(readFileSync('schema/generated/api.graphql', 'utf8'));
    const taking = (inputs: readonly (GraphQLArgument | GraphQLInputField)[]): string[] =>
      inputs.flatMap(({ name, type }) =>
        ['Float', 'JSONObject'].includes(getNamedType(type).name) ? [name] : [],
      );
    const found = Object.values(schema.getTypeMap()).flatMap((type) => {
      if (isInputObjectType(type)) return taking(Object.values(type.getFields()));
      return isObjectType(type)
        ? Object.values(type.getFields()).flatMap(({ args }) => taking(args))
        : [];
    });
    assert.deepEqual(found, []);
  });
});

test('a byte order mark before JSON is no part of it', async () => {
  const [status] = await post(`\uFEFF${sent('{"input":{"amount":100}}')}`);
  assert.equal(status, 200);
  const rest = await fetch(`${service.rest}/v1/public/payments`, {
    method: 'POST',
    headers,
    body: '\uFEFF{"amount":100}',
  });
  assert.equal(rest.status, 201, await rest.text());
});

test('a parameter that is none is named as it was sent; an address with a slash at its end is none', async () => {
  const get = async (path: string, sentHeaders = headers) => {
    const answer = await fetch(`${service.rest}/v1/public${path}`, { headers: sentHeaders });
    return [answer.status, ((await answer.json()) as any).error.message] as const;
  };
  for (const [name, path] of [
    ['status[]', '/payments?status[]=failed'],
    ['metadata[x]', '/payments?metadata%5Bx%5D=1'],
  ] as const) {
    const [status, message] = await get(path);
    assert.equal(status, 400);
    assert.ok(message.startsWith(`${name}: unknown query parameter, expected limit,`), message);
  }
  for (const path of ['/payments/', '/payments/?limit=1', '/links/', '/receipts/', '/payments//'])
    for (const sentHeaders of [headers, {}])
      assert.deepEqual(
        await get(path, sentHeaders),
        [404, 'there is nothing at this address'],
        path,
      );
});
