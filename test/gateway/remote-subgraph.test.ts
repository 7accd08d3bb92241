import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { randomBytes } from 'node:crypto';
import { fastify } from 'fastify';
import { parse, separateOperations, getOperationAST, type ExecutionResult } from 'graphql';
import { patience_ms } from '../support/eventually.ts';
import { remoteExecutor, type RemoteExecutor } from '../../gateway/remote-subgraph.ts';
import { subgraphNames, type SubgraphName } from '../../schema/sources.ts';
import { AnswerMeter, answerSize_max } from '../../subgraphs/platform/access/answer-meter.ts';
import {
  principalHeader,
  principalSigner,
  type PrincipalKeys,
  scopes,
  type Call,
  type Principal,
} from '../../subgraphs/platform/access/principal.ts';
import { serveSubgraph, subgraphPath } from '../../subgraphs/platform/graph/serve-subgraph.ts';
import { openLog } from '../../subgraphs/platform/tracing/telemetry.ts';
import { compilerOver } from './compile-here.ts';
import {
  generatedExecutors,
  merchants,
  readFederatedOperations,
  type Fixture,
} from './generated-subgraphs.ts';

const keys: PrincipalKeys = { shared: randomBytes(32), service: null };
const log = openLog({ logLevel: 'silent' }, 'test');
const fixture: Fixture = { seed: 7, faults: 0 };
const local = generatedExecutors(fixture);

const app = fastify();
for (const name of subgraphNames) serveSubgraph(app, { name, executor: local[name], keys, log });
const address = await app.listen({ host: '127.0.0.1', port: 0 });

const opened: RemoteExecutor[] = [];
const reach = (url: string, answerTimeout_ms = patience_ms): RemoteExecutor => {
  const executor = remoteExecutor(url, keys, log, answerTimeout_ms);
  opened.push(executor);
  return executor;
};
const reachAll = (): Record<SubgraphName, RemoteExecutor> => ({
  payments: reach(address + subgraphPath('payments')),
  payouts: reach(address + subgraphPath('payouts')),
  recurring: reach(address + subgraphPath('recurring')),
  merchants: reach(address + subgraphPath('merchants')),
});

const servers: Server[] = [];
after(async () => {
  await Promise.all(opened.map((executor) => executor.close()));
  for (const server of servers) server.closeAllConnections();
  await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
  await app.close();
});

const key: Principal = {
  kind: 'key',
  keyId: 'k',
  merchantId: merchants[0] ?? '',
  shopId: 'a',
  mode: 'test',
  scopes,
};
const call: Call = { principal: key, requestId: 'req-9', isInLane: true };
const plain = (result: ExecutionResult): unknown => JSON.parse(JSON.stringify(result));

test('subgraphs over HTTP answer as they do in the process', async () => {
  const [near, far] = [compilerOver(local), compilerOver(reachAll())];
  const documents = Object.values(separateOperations(readFederatedOperations()));
  const variables = {
    id: 'a',
    paymentId: 'a',
    payoutId: 'b',
    first: 3,
    amount: 100,
    input: { amount: 5, currency: undefined },
    merchantId: merchants[0],
    name: 'x',
  };
  let errors = 0;
  let data = 0;
  for (const document of documents) {
    assert(getOperationAST(document));
    const [here, there] = [near(document), far(document)];
    for (let seed = 0; seed < 8; seed += 1) {
      Object.assign(fixture, { seed, faults: seed % 2 === 0 ? 0 : 23 });
      const answer = await there(variables, call);
      assert.deepEqual(plain(answer), plain(await here(variables, call)));
      errors += answer.errors?.length ?? 0;
      if (answer.data && !answer.errors) data += 1;
    }
  }
  assert.ok(errors > 10 && data > 30, `errors: ${errors}, data: ${data}`);
});

describe("a subgraph's address", () => {
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(address + subgraphPath('merchants'), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const query = { query: '{ __typename }', variables: {} };

  test('answers a process of the service', async () => {
    const response = await post(query, { [principalHeader]: await principalSigner(keys)(key) });
    assert.deepEqual(
      [response.status, await response.json()],
      [200, { data: { __typename: 'Query' } }],
    );
  });
  test('refuses a call without a header, and one with a foreign header', async () => {
    const forged = await principalSigner({ ...keys, shared: randomBytes(32) })(key);
    for (const headers of [
      {},
      { [principalHeader]: forged },
      { authorization: `Bearer ${forged}` },
    ]) {
      const response = await post(query, headers);
      assert.equal(response.status, 401);
      assert.match(await response.text(), /UNAUTHENTICATED/);
    }
  });
  test('refuses an expired header', async () => {
    const expired = await principalSigner(keys, () => Date.now() - 61_000)(key);
    assert.equal((await post(query, { [principalHeader]: expired })).status, 401);
  });
  test('refuses a body that is no request', async () => {
    const headers = { [principalHeader]: await principalSigner(keys)(key) };
    for (const body of [
      '{',
      'null',
      '[]',
      '{}',
      '{"query":5}',
      '{"query":"{ __typename }","variables":[]}',
      '{"query":"{"}',
    ]) {
      const response = await post(body, headers);
      assert.equal(response.status, 400, body);
      assert.doesNotMatch(await response.text(), /at .*\.ts/);
    }
  });
});

describe('a subgraph that does not answer is unavailable', () => {
  const stand = async (
    answer: (respond: (status: number, body: string) => void) => void,
  ): Promise<{ url: string; asked: () => number }> => {
    let asked = 0;
    const server = createServer((_request, response) => {
      asked += 1;
      answer((status, body) => response.writeHead(status).end(body));
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const at = server.address();
    assert(at && typeof at === 'object');
    return { url: `http://127.0.0.1:${at.port}/subgraphs/payments`, asked: () => asked };
  };
  const run = (url: string, answerTimeout_ms?: number): Promise<ExecutionResult> =>
    reach(url, answerTimeout_ms).prepare(parse('{ __typename }'))({}, call);
  const unavailable = {
    data: null,
    errors: [
      { message: 'a part of the service did not answer', extensions: { code: 'unavailable' } },
    ],
  };

  test('because nothing listens there', async () => {
    assert.deepEqual(plain(await run('http://127.0.0.1:9/subgraphs/payments')), unavailable);
  });
  const answers: readonly (readonly [
    string,
    (respond: (status: number, body: string) => void) => void,
    answerTimeout_ms?: number,
  ])[] = [
    ['it fails', (respond) => respond(500, 'secret stack')],
    ['it refuses the header', (respond) => respond(401, '{"errors":[]}')],
    ['it answers with something else', (respond) => respond(200, '<html>')],
    ['its answer is no result', (respond) => respond(200, '{"ok":true}')],
    ['it hangs', () => {}, 2_000],
  ];
  for (const [what, answer, answerTimeout_ms] of answers) {
    test(`because ${what}; it is asked once`, async () => {
      const { url, asked } = await stand(answer);
      assert.deepEqual(plain(await run(url, answerTimeout_ms)), unavailable);
      assert.equal(asked(), 1);
    });
  }
});

test('an answer is measured in the process that makes it: it ends there, and here with it', async () => {
  const made = fastify();
  after(() => made.close());
  const executor = {
    prepare:
      () =>
      async ({ size }: Readonly<Record<string, unknown>>, { meter }: Call) => {
        try {
          meter?.take(Number(size));
          return { data: { __typename: 'Query' } };
        } catch {
          return { data: null, errors: meter ? [meter.refusal] : [] };
        }
      },
  };
  serveSubgraph(made, { name: 'payments', executor, keys, log });
  const url = await made.listen({ host: '127.0.0.1', port: 0 });
  const run = reach(url + subgraphPath('payments')).prepare(
    parse('query ($size: Int) { __typename }'),
  );
  const sizes = [answerSize_max, answerSize_max + 1];
  for (const size of sizes) {
    const meter = new AnswerMeter(answerSize_max);
    const { errors = [] } = await run({ size }, { ...call, meter });
    const codes = errors.map(({ extensions }) => extensions['code']);
    const isRefusal = size > answerSize_max;
    assert.deepEqual([codes, meter.exceeded], [isRefusal ? ['query_too_complex'] : [], isRefusal]);
    // Of what the service asks for by itself nothing is measured.
    assert.equal((await run({ size }, call)).errors, undefined);
  }
});
