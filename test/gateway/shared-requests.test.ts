/** Operations of the same moment in one request to a subgraph: each is on its own all the same. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { fastify, type FastifyInstance } from 'fastify';
import { parse, type ExecutionResult } from 'graphql';
import { patience_ms } from '../support/eventually.ts';
import { remoteExecutor } from '../../gateway/remote-subgraph.ts';
import { AnswerMeter } from '../../subgraphs/platform/access/answer-meter.ts';
import {
  batchOperations_max,
  batchPath,
  linesType,
  sharedVariables_max_characters,
  serveSubgraph,
  subgraphPath,
} from '../../subgraphs/platform/graph/serve-subgraph.ts';
import type { SubgraphExecutor } from '../../subgraphs/platform/graph/subgraph.ts';
import {
  principalSigner,
  type PrincipalKeys,
  type Call,
  type Principal,
} from '../../subgraphs/platform/access/principal.ts';
import { openLog } from '../../subgraphs/platform/tracing/telemetry.ts';

const keys: PrincipalKeys = { shared: randomBytes(32), service: null };
const log = openLog({ logLevel: 'silent' }, 'test');
const path = subgraphPath('payments');
const document = parse('query ($n: Int) { __typename }');

const buyer = (n: number): Principal => ({ kind: 'buyer', merchantId: 'm', paymentId: String(n) });
const callOf = (n: number): Call => ({
  principal: buyer(n),
  requestId: `req-${n}`,
  isInLane: false,
});

/** Answers each operation with who asked and for what; `slow` ones when they are let go. */
const openEcho = () => {
  const letGo = Promise.withResolvers<void>();
  const executor: SubgraphExecutor = {
    prepare: () => async (variables, call) => {
      if (variables['slow'] === true) await letGo.promise;
      if (variables['breaks'] === true) throw new Error('broken');
      return { data: { variables, principal: call.principal, requestId: call.requestId } };
    },
  };
  return { executor, letGo: letGo.resolve };
};

interface Asked {
  readonly url: string;
  readonly operations: number;
}

/** A subgraph that counts what it is asked, and an executor over it. */
const open = async (
  prepareApp: (app: FastifyInstance) => void = () => {},
  answer_ms = patience_ms,
) => {
  const { executor, letGo } = openEcho();
  const app = fastify();
  const asked: Asked[] = [];
  app.addHook('preHandler', async ({ url, body }) => {
    const operations = typeof body === 'string' ? body.split('\n').length - 1 : 1;
    asked.push({ url, operations });
  });
  prepareApp(app);
  serveSubgraph(app, { name: 'payments', executor, keys, log });
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  const remote = remoteExecutor(address + path, keys, log, answer_ms);
  after(async () => {
    letGo();
    await remote.close();
    await app.close();
  });
  const run = remote.prepare(document);
  return { app, address, asked, letGo, run, batches: () => asked.filter(isBatch) };
};

const byItself = (): Asked => ({ url: path, operations: 1 });
const isBatch = ({ url }: Asked): boolean => url.endsWith(batchPath);
const plain = (result: ExecutionResult): unknown => JSON.parse(JSON.stringify(result));
const echoOf = (n: number) => ({
  data: { variables: { n }, principal: buyer(n), requestId: `req-${n}` },
});
const codesOf = ({ errors = [] }: ExecutionResult) =>
  errors.map(({ extensions: { code } }) => code);
const range = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);

type Run = Awaited<ReturnType<typeof open>>['run'];

/** A principal is signed when it is first seen, which takes a moment of its own. */
const know = async (run: Run, callers: number): Promise<void> => {
  for (const n of range(callers)) await run({}, callOf(n));
};

test('operations of the same moment share a request; each has its caller, its id, its answer', async () => {
  const { run, asked } = await open();
  await know(run, 10);
  asked.length = 0;
  const answers = await Promise.all(range(10).map((n) => run({ n }, callOf(n))));
  assert.deepEqual(answers.map(plain), range(10).map(echoOf));
  assert.deepEqual(asked, [{ url: path + batchPath, operations: 10 }]);
});

test('an operation by itself has a request of its own', async () => {
  const { run, asked } = await open();
  for (const n of range(3)) assert.deepEqual(plain(await run({ n }, callOf(n))), echoOf(n));
  assert.deepEqual(asked, range(3).map(byItself));
});

test('a request holds no more operations than it may', async () => {
  const { run, asked } = await open();
  await know(run, 1);
  asked.length = 0;
  await Promise.all(range(3 * batchOperations_max).map(() => run({}, callOf(0))));
  assert.deepEqual(
    asked.map(({ operations }) => operations),
    range(3).map(() => batchOperations_max),
  );
});

test('what may be large or late shares no request: what is in the lane, many variables', async () => {
  const { run, batches } = await open();
  await know(run, 1);
  const text = 'x'.repeat(sharedVariables_max_characters);
  await Promise.all([
    ...range(3).map(() => run({}, { ...callOf(0), isInLane: true, meter: new AnswerMeter(1) })),
    ...range(3).map(() => run({ text }, callOf(0))),
  ]);
  assert.deepEqual(batches(), []);
});

describe('in a shared request', () => {
  test('a slow operation holds up no other', async () => {
    const { run, letGo, batches } = await open();
    await know(run, 3);
    const slow = run({ slow: true }, callOf(0));
    // These answers come while the slow one waits, or never.
    const others = await Promise.all([1, 2].map((n) => run({ n }, callOf(n))));
    assert.deepEqual(others.map(plain), [echoOf(1), echoOf(2)]);
    letGo();
    assert.deepEqual(codesOf(await slow), []);
    assert.equal(batches().at(-1)?.operations, 3);
  });

  test('many slow operations do not delay later ones', async () => {
    const { run, letGo } = await open();
    await know(run, 2);
    const slow = range(5 * batchOperations_max).map(() => run({ slow: true }, callOf(0)));
    for (const n of range(5)) assert.deepEqual(plain(await run({ n }, callOf(n))), echoOf(n));
    letGo();
    assert.ok((await Promise.all(slow)).every((answer) => codesOf(answer).length === 0));
  });

  test('one that is not answered in time is unavailable, and no other', async () => {
    const { run } = await open(undefined, 2_000);
    await know(run, 3);
    const [slow, ...others] = await Promise.all([
      run({ slow: true }, callOf(0)),
      ...[1, 2].map((n) => run({ n }, callOf(n))),
    ]);
    assert.deepEqual([codesOf(slow), slow.data], [['unavailable'], null]);
    assert.deepEqual(others.map(plain), [echoOf(1), echoOf(2)]);
  });

  test('one that breaks the subgraph is unavailable, and no other', async () => {
    const { run } = await open();
    await know(run, 2);
    const [broken, other] = await Promise.all([
      run({ breaks: true }, callOf(0)),
      run({ n: 1 }, callOf(1)),
    ]);
    assert.deepEqual(codesOf(broken), ['unavailable']);
    assert.deepEqual(plain(other), echoOf(1));
  });

  test('one that was answered keeps its answer when the connection is lost; nothing is sent twice', async () => {
    let requests = 0;
    const server = createServer((_request, response) => {
      requests += 1;
      const line = { operation: 0, status: 200, answer: { data: { first: true } } };
      response.write(`${JSON.stringify(line)}\n{"operation":1,`, () => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const at = server.address();
    assert(at && typeof at === 'object');
    const remote = remoteExecutor(`http://127.0.0.1:${at.port}${path}`, keys, log);
    after(async () => {
      await remote.close();
      server.close();
    });
    // A query would be asked again (lost-subgraph.test.ts).
    const run = remote.prepare(parse('mutation { __typename }'));
    await know(run, 2);
    requests = 0;
    const [first, second] = await Promise.all([run({}, callOf(0)), run({}, callOf(1))]);
    assert.deepEqual(first.data, { first: true });
    assert.deepEqual(codesOf(second), ['unavailable']);
    assert.equal(requests, 1);
  });
});

test('a server that closes answers what it has begun, and then does not wait', async () => {
  const { app, run, letGo } = await open();
  await know(run, 2);
  const slow = run({ slow: true }, callOf(0));
  await run({ n: 1 }, callOf(1));
  const closing = app.close();
  letGo();
  assert.deepEqual(codesOf(await slow), []);
  await closing;
});

describe("a batch's address", () => {
  const sign = principalSigner(keys);
  const operation = { document: 0, principal: 0, requestId: 'r', variables: { n: 1 } };
  const post = async (address: string, lines: readonly unknown[]) => {
    const response = await fetch(address + path + batchPath, {
      method: 'POST',
      headers: { 'content-type': linesType },
      body: lines
        .map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))
        .join('\n'),
    });
    return { status: response.status, text: await response.text() };
  };

  test('refuses each operation that cannot be read, or whose caller is not signed, by itself', async () => {
    const { address } = await open();
    const forged = await principalSigner({ ...keys, shared: randomBytes(32) })(buyer(0));
    const expired = await principalSigner(keys, () => Date.now() - 61_000)(buyer(0));
    const head = {
      documents: ['{ __typename }', '{'],
      principals: [await sign(buyer(0)), forged, expired],
    };
    const lines: readonly (readonly [number, unknown])[] = [
      [200, operation],
      [401, { ...operation, principal: 1 }],
      [401, { ...operation, principal: 2 }],
      [401, { ...operation, principal: 3 }],
      [400, { ...operation, document: 1 }],
      [400, { ...operation, document: 2 }],
      [400, { ...operation, variables: [] }],
      [400, '{'],
      [400, '{"document":0,"principal":0,"requestId":"r","variables":{"__proto__":{}}}'],
      [200, operation],
    ];
    const { status, text } = await post(address, [head, ...lines.map(([, line]) => line)]);
    assert.equal(status, 200);
    const answers = text
      .trimEnd()
      .split('\n')
      .map((line): { operation: number; status: number } => JSON.parse(line))
      .toSorted((one, other) => one.operation - other.operation);
    assert.deepEqual(
      answers.map((answer) => [answer.operation, answer.status]),
      lines.map(([expected], place) => [place, expected]),
    );
    assert.doesNotMatch(text, /at .*\.ts/);
  });

  test('refuses what is no batch, and one that is too large', async () => {
    const { address } = await open();
    const head = { documents: ['{ __typename }'], principals: [await sign(buyer(0))] };
    const batches: readonly (readonly unknown[])[] = [
      ['{'],
      [head],
      [{ documents: [] }, operation],
      [head, ...range(batchOperations_max + 1).map(() => operation)],
    ];
    for (const lines of batches) assert.equal((await post(address, lines)).status, 400);
  });
});
