/** Calls without a key from a person's address do not lock the person out of the console. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startOwn, type ServiceInUse } from '../support/plain-service.ts';
import { operatorToken } from '../support/service.ts';
import { eventually } from '../support/eventually.ts';
import { makeLink, openVisitor } from './visitor.ts';

let service: ServiceInUse;
let graph: string;
before(async () => {
  service = await startOwn({ TRUSTED_PROXIES: '127.0.0.1' });
  graph = `${service.graph}/graphql`;
});
after(() => service.stop());

type Headers = Readonly<Record<string, string>>;

/**
 * Calls without a key, as anybody's page or neighbour makes them, all at the same moment; gives the
 * statuses that came.
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

/**
 * Calls so until that is too often: an address may fail 100 times at once and ten times a second,
 * which a slow machine comes to only after a while.
 */
const callTooOften = (headers: Headers = {}): Promise<true> =>
  eventually(async () => (await callAsNobody(200, headers)).has(429), 'a call too many');

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

/** The least that an address had left after one of 20 calls at once with these headers. */
const leastLeft = async (address: string, headers: Headers): Promise<number> => {
  const left = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const answer = await fetch(`${service.rest}/v1/public/balance`, {
        headers: { 'x-forwarded-for': address, ...headers },
      });
      await answer.arrayBuffer();
      return Number(answer.headers.get('ratelimit-remaining'));
    }),
  );
  return Math.min(...left);
};

test('what a foreign page cannot send is counted: a key, and the header of our own pages', async () => {
  const foreign = { 'sec-fetch-site': 'cross-site' };
  const guessing = { ...foreign, authorization: 'Bearer sk_test_abc123_no' };
  assert.equal(await leastLeft('203.0.113.1', foreign), 100);
  // A call is forgotten after 100 ms, on a slow machine before its answer is written.
  for (const [address, headers] of [
    ['203.0.113.2', guessing],
    ['203.0.113.3', { ...foreign, 'x-console': 'test' }],
  ] as const)
    await eventually(async () => (await leastLeft(address, headers)) < 100, 'a call that counts');
});

test('an address with too many failures keeps its sessions, its operator and its links', async () => {
  const visitor = await entered();
  await callTooOften();
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
  await callTooOften();
  const unknown = { cookie: 'console=0123456789012345678901234567890123456789012' };
  await callTooOften(unknown);
});

test('a good link is good where bad ones were tried until they were turned away', async () => {
  const link = await makeLink(service.rest);
  const tryBad = async (): Promise<readonly number[]> =>
    Promise.all(
      Array.from({ length: 200 }, () => openVisitor(service.rest).enter(`#${'a'.repeat(43)}`)),
    );
  await eventually(async () => (await tryBad()).includes(429), 'a link too many');
  assert.equal(await openVisitor(service.rest).enter(link), 201);
});
