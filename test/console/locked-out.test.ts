/** Nobody keeps a person out of the console by calls without a key from the person's address. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startOwn, type ServiceInUse } from '../support/plain-service.ts';
import { operatorToken } from '../support/service.ts';
import { makeLink, openVisitor } from './visitor.ts';

let service: ServiceInUse;
let graph: string;
before(async () => {
  service = await startOwn();
  graph = `${service.graph}/graphql`;
});
after(() => service.stop());

type Headers = Readonly<Record<string, string>>;

/**
 * Calls without a key, as anybody's page or neighbour makes them; gives the statuses that came. All
 * at the same moment: an address may fail 100 times at once and ten times a second, and on a slow
 * machine one call after the other would never be too many.
 */
const callAsNobody = async (calls: number, headers: Headers = {}): Promise<ReadonlySet<number>> => {
  const statuses = await Promise.all(
    Array.from({ length: calls }, async (_, nth) => {
      const [url, method] =
        nth % 2 === 0 ? [graph, 'POST'] : [`${service.rest}/v1/public/balance`, 'GET'];
      const answer = await fetch(url, { method, headers });
      await answer.arrayBuffer();
      return answer.status;
    }),
  );
  return new Set(statuses);
};

const entered = async () => {
  const visitor = openVisitor(service.rest);
  assert.equal(await visitor.enter(await makeLink(service.rest)), 201);
  return visitor;
};

test('the page of another site costs its readers nothing', async () => {
  const foreign = { 'sec-fetch-site': 'cross-site' };
  assert.deepEqual(await callAsNobody(300, foreign), new Set([401]));
  assert.deepEqual(await callAsNobody(2), new Set([401]));
});

test('what a foreign page cannot send is counted: a key, and the header of our own pages', async () => {
  const guessing = { 'sec-fetch-site': 'cross-site', authorization: 'Bearer sk_test_abc123_no' };
  for (const headers of [guessing, { 'sec-fetch-site': 'cross-site', 'x-console': 'test' }]) {
    const before = await remaining();
    await callAsNobody(80, headers);
    assert.ok((await remaining()) <= Math.max(0, before - 20));
  }
});

/** What the address has left, as an answer to an unknown key says. */
const remaining = async (): Promise<number> => {
  const answer = await fetch(`${service.rest}/v1/public/balance`);
  await answer.arrayBuffer();
  return Number(answer.headers.get('ratelimit-remaining'));
};

test('an address with too many failures keeps its sessions, its operator and its links', async () => {
  const visitor = await entered();
  assert.ok((await callAsNobody(300)).has(429));
  const answer = await visitor.ask('Merchants', { first: 1 });
  assert.ok(answer.data, JSON.stringify(answer));
  const byToken = await fetch(graph, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
    body: '{"query":"{ __typename }"}',
  });
  assert.equal(byToken.status, 200);
  const later = await entered();
  assert.ok((await later.ask('Merchants', { first: 1 })).data);
  assert.ok((await callAsNobody(200)).has(429));
  const unknown = { cookie: 'console=0123456789012345678901234567890123456789012' };
  assert.ok((await callAsNobody(200, unknown)).has(429));
});
