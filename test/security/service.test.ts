/** A running service as a stranger meets it, whose calls without a key leave the console open to others. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { makeMerchant, type Merchant } from '../support/merchant.ts';
import { operatorToken, startService, type Service } from '../support/service.ts';
import { eventually } from '../support/eventually.ts';
import { makeLink, openVisitor } from '../console/visitor.ts';

let service: Service;
let merchant: Merchant;
let graph: string;
before(async () => {
  service = await startService('one', { TRUSTED_PROXIES: '127.0.0.1' });
  graph = `${service.graph}/graphql`;
  merchant = await makeMerchant(service);
});
after(() => service.stop());

const careful: Readonly<Record<string, RegExp>> = {
  'x-content-type-options': /^nosniff$/,
  'x-frame-options': /^DENY$/,
  'referrer-policy': /^(?:no-referrer|same-origin)$/,
  'content-security-policy': /default-src 'none'.*frame-ancestors 'none'/,
  'cross-origin-opener-policy': /^same-origin$/,
};

test('every page and every answer, whatever its status, keeps browsers careful and does not say what serves it', async () => {
  const { payment_url: page } = (
    await merchant.call('POST', '/payments', { amount: 100, order_id: 'headers' })
  ).body;
  const html = { accept: 'text/html' };
  const asked: readonly (readonly [string, RequestInit])[] = [
    [page, { headers: html }],
    [`${page}/state`, {}],
    [`${service.rest}/pay/nobody`, { headers: html }],
    [`${service.rest}/docs`, { headers: html }],
    [`${service.rest}/docs/en/details/`, { headers: html }],
    [`${service.rest}/docs/en/verify-webhooks/`, { headers: html }],
    [`${service.graph}/graphql`, { headers: html }],
    [
      `${service.graph}/graphql`,
      { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } },
    ],
    [`${service.rest}/v1/public/openapi.json`, {}],
    [`${service.rest}/v1/public/balance`, {}],
    [`${service.rest}/v1/public/balance`, { method: 'DELETE' }],
    [`${service.rest}/nowhere`, {}],
    [`${service.rest}/healthz`, {}],
    [`${service.rest}/metrics`, {}],
  ];
  const statuses = new Set<number>();
  for (const [address, init] of asked) {
    const { status, headers } = await fetch(address, init);
    statuses.add(status);
    const lacking = Object.entries(careful).filter(
      ([name, value]) => !value.test(headers.get(name) ?? ''),
    );
    assert.deepEqual(
      lacking.map(([name]) => `${name}: ${headers.get(name)}`),
      [],
      `${init.method ?? 'GET'} ${address}`,
    );
    assert.deepEqual([headers.get('server'), headers.get('x-powered-by')], [null, null]);
  }
  for (const status of [200, 401, 404, 405])
    assert.ok(statuses.has(status), `saw ${[...statuses].join(', ')}`);
});

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

test('who guesses keys is soon answered 429, and neither learns of a right one nor locks out who has one', async () => {
  const guess = (key: string): Promise<Response> =>
    fetch(`${service.rest}/v1/public/balance`, { headers: { authorization: `Bearer ${key}` } });
  assert.equal((await guess(merchant.key)).status, 200);
  // At the same moment: however slow this machine is, the limit of an address (100 at once, 10 a
  // second) does not fill up meanwhile.
  const answers = await Promise.all(
    Array.from({ length: 300 }, async (_, tried) => {
      const answer = await guess(`sk_test_abc123_${String(tried).padStart(32, '0')}`);
      const { error } = (await answer.json()) as { error: { code: string; message: string } };
      return `${answer.status} ${error.code}`;
    }),
  );
  const refused = answers.filter((answer) => answer.startsWith('429')).length;
  assert.ok(refused >= 100, `${refused} of 300 guesses were refused`);
  assert.deepEqual([...new Set(answers)].toSorted(), ['401 unauthorized', '429 rate_limited']);
  assert.equal((await guess(merchant.key)).status, 200, 'a key that was good before still is');
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

test(
  'no process of an installation shows a secret in its arguments',
  { skip: process.platform !== 'linux' && 'other systems have no /proc' },
  () => {
    const own = service.processes[0]?.child.pid;
    const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    const received = processes.flatMap((pid) => {
      try {
        return [
          {
            pid: Number(pid),
            parent: Number(
              /\nPPid:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1],
            ),
            line: readFileSync(`/proc/${pid}/cmdline`, 'utf8'),
          },
        ];
      } catch {
        // It has ended meanwhile.
        return [];
      }
    });
    const children = received.filter(({ pid, parent }) => pid === own || parent === own);
    assert.ok(children.length > 0);
    for (const { line } of children)
      assert.doesNotMatch(line, new RegExp(`${operatorToken}|sk_test_|password|secret`, 'i'));
  },
);
