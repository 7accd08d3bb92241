/** A running service as a stranger meets it. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { makeMerchant, type Merchant } from '../support/merchant.ts';
import { operatorToken, startService, type Service } from '../support/service.ts';

let service: Service;
let merchant: Merchant;
before(async () => {
  service = await startService('one');
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
