/** What a key may read of the past by its scopes, over HTTP and over a socket. */
import { describe, test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { eventually } from '../support/eventually.ts';
import { codesOf, post, read } from './ask-graph.ts';
import { receive, letIn, say } from './raw-socket.ts';
import { serveGraph } from './serve-graph.ts';
import { testKey } from './small-graph.ts';

type Graph = Awaited<ReturnType<typeof serveGraph>>;

/** The graph with three past events, asked by a key that has these scopes alone. */
const serveKey = async (t: TestContext, scopes: readonly string[]): Promise<Graph> => {
  const served = await serveGraph(t);
  served.fixture.setKey(testKey, { ...served.fixture.holderOf(testKey), scopes: [...scopes] });
  served.fixture.store({ subjectId: 'p-1' });
  served.fixture.store({ subjectId: 'p-2' });
  return served;
};

/** The first message that comes for an operation. */
const first = async (t: TestContext, { socketUrl }: Graph, query: string): Promise<string> => {
  const socket = await letIn(t, socketUrl);
  say(socket, { type: 'subscribe', id: '1', payload: { query } });
  return JSON.stringify(await receive(socket));
};

const withPayment = 'subscription { paymentCreated(after: "10") { id payment { id amount } } }';
const alone = 'subscription { paymentCreated(after: "10") { id payload shopId } }';
const byId = '{ liveEvent(id: "10") { id ... on PaymentCreatedEvent { payment { id } } } }';
const deliveries =
  '{ liveEvent(id: "10") { ... on PaymentCreatedEvent { payment { webhookDeliveries { url } } } } }';

describe('a key without api:reports:read', () => {
  test('resumes the stream with the events’ own fields, as by SSE', async (t) => {
    assert.match(await first(t, await serveKey(t, []), alone), /"id":"20"/);
  });

  test('does not get the objects of past events with them', async (t) => {
    const refused = await first(t, await serveKey(t, ['api:balance:read']), withPayment);
    assert.match(refused, /"type":"error"/);
    assert.match(refused, /"code":"scope_required"/);
    assert.match(refused, /lacks the scope api:reports:read/);
  });

  test('does not ask for an event by its id, over HTTP and over a socket, in a fragment either', async (t) => {
    const served = await serveKey(t, []);
    for (const query of [
      byId,
      'query { ...F } fragment F on Query { a: liveEvent(id: "10") { id } }',
    ]) {
      const response = await post(served.url, { query });
      assert.equal(response.status, 403);
      assert.deepEqual(await codesOf(response), ['scope_required']);
      assert.match(await first(t, served, query), /"code":"scope_required"/);
    }
    assert.equal(served.fixture.count('liveEvent'), 0);
  });

  test('gets the objects of events as they happen, which it may read by their ids, but not the deliveries of a payment', async (t) => {
    const served = await serveKey(t, []);
    const receiveNext = async (query: string): Promise<string> => {
      const socket = await letIn(t, served.socketUrl);
      say(socket, { type: 'subscribe', id: '1', payload: { query } });
      const answer = receive(socket);
      let isThere = false;
      answer.finally(() => (isThere = true)).catch(() => {});
      await eventually(async () => {
        await served.fixture.happen({ subjectId: 'p-now' });
        return isThere;
      }, 'the event');
      return JSON.stringify(await answer);
    };
    assert.match(
      await receiveNext('subscription { paymentCreated { payment { id amount } } }'),
      /"payment":\{"id":"p-now","amount":100\}/,
    );
    assert.match(
      await receiveNext('subscription { paymentCreated { payment { webhookDeliveries { id } } } }'),
      /"code":"scope_required"/,
    );
  });
});

test('a key with api:reports:read has all of it', async (t) => {
  const served = await serveKey(t, ['api:reports:read']);
  assert.match(await first(t, served, withPayment), /"payment":\{"id":"p-2","amount":100\}/);
  assert.equal((await read(await post(served.url, { query: byId }))).errors, undefined);
  assert.deepEqual(
    (await codesOf(await post(served.url, { query: deliveries }))).includes('scope_required'),
    false,
  );
});
