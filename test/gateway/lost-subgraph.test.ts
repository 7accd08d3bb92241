/** A subgraph whose process dies under a request: what may be asked of another one is, once. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { parse } from 'graphql';
import { patience_ms } from '../support/eventually.ts';
import { openLog } from '../../subgraphs/platform/tracing/telemetry.ts';
import { remoteExecutor, type RemoteExecutor } from '../../gateway/remote-subgraph.ts';
import { scopes, type Call, type Principal } from '../../subgraphs/platform/access/principal.ts';

const keys = { shared: randomBytes(32), service: null };
const principal: Principal = {
  kind: 'key',
  keyId: 'k',
  merchantId: 'm',
  shopId: 's',
  mode: 'test',
  scopes,
};
const call: Call = { principal, requestId: 'req-1', isInLane: false };
const keyed: Call = { ...call, mayRepeat: true };
const read = parse('query Read { payment(id: "1") { id } }');
const write = parse('mutation Write { paymentCancel(id: "1") { id } }');
const good = { data: { payment: { id: '1' } } };

type Handle = (request: IncomingMessage, response: ServerResponse) => void;
const answers: Handle = (_request, response) => void response.end(JSON.stringify(good));
const dies: Handle = (request) => void request.socket.destroy();
const says =
  (status: number): Handle =>
  (_request, response) =>
    void response.writeHead(status).end();
const hangs: Handle = () => {};

const opened: { server: Server; executor: RemoteExecutor }[] = [];
after(async () => {
  for (const { server } of opened) server.closeAllConnections();
  await Promise.all(opened.map(({ executor }) => executor.close()));
  await Promise.all(opened.map(({ server }) => server[Symbol.asyncDispose]()));
});

/** A subgraph that treats each request as the list says, and the last of it all others. */
const stand = async (...handles: readonly Handle[]) => {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const take = async (): Promise<void> => {
      const body = await text(request);
      const handle = handles[Math.min(bodies.length, handles.length - 1)];
      bodies.push(body);
      // The whole request has arrived: it may have taken effect.
      handle?.(request, response);
    };
    void take();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const at = server.address();
  assert(at && typeof at === 'object');
  const executor = remoteExecutor(
    `http://127.0.0.1:${at.port}/subgraphs/payments`,
    keys,
    openLog({ logLevel: 'silent' }, 'test'),
    // Long enough for whatever answers, on the busiest machine.
    handles.includes(hangs) ? 2_000 : patience_ms,
  );
  opened.push({ server, executor });
  return { executor, bodies, asked: () => bodies.length };
};

const isUnavailable = (result: unknown): boolean => JSON.stringify(result).includes('unavailable');

for (const [how, lost] of [
  ['its connection breaks', dies],
  ['the balancer answers 502', says(502)],
  ['the balancer answers 503', says(503)],
] as const) {
  test(`${how}: a query is asked once more`, async () => {
    const { executor, asked } = await stand(lost, answers);
    const { data } = await executor.prepare(read)({}, call);
    assert.deepEqual(JSON.parse(JSON.stringify(data)), good.data);
    assert.equal(asked(), 2);
  });

  test(`${how}: a mutation whose caller sent a key is asked once more`, async () => {
    const { executor, asked } = await stand(lost, answers);
    assert.ok(!isUnavailable(await executor.prepare(write)({}, keyed)));
    assert.equal(asked(), 2);
  });

  test(`${how}: any other mutation may have taken effect, and is asked once`, async () => {
    const { executor, asked } = await stand(lost, answers);
    assert.ok(isUnavailable(await executor.prepare(write)({}, call)));
    assert.equal(asked(), 1);
  });

  test(`${how} the second time, too: it is unavailable then`, async () => {
    const { executor, asked } = await stand(lost);
    assert.ok(isUnavailable(await executor.prepare(read)({}, call)));
    assert.equal(asked(), 2);
  });
}

for (const [how, answer] of [
  ['it takes too long', hangs],
  ['it fails', says(500)],
] as const)
  test(`${how}: not even a query is asked again`, async () => {
    const { executor, asked } = await stand(answer);
    assert.ok(isUnavailable(await executor.prepare(read)({}, keyed)));
    assert.equal(asked(), 1);
  });

test('of those that shared the lost request, each is asked again by its own right', async () => {
  const { executor, bodies } = await stand(dies, answers);
  const reading = executor.prepare(read);
  const results = await Promise.all([
    reading({}, call),
    executor.prepare(write)({}, call),
    reading({}, call),
  ]);
  assert.ok(isUnavailable(results[1]));
  const [first = '', ...again] = bodies;
  assert.match(first, /Read/);
  assert.match(first, /Write/);
  assert.ok(again.length > 0);
  for (const body of again) assert.match(body, /Read/);
  for (const body of again) assert.doesNotMatch(body, /Write/);
});
