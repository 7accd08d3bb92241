/** What the facade serves of the console: its weight, its policy, its addresses; and `/`. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';

let service: ServiceInUse;
before(async () => void (service = await openPlainService()));
after(() => service.stop());

const get = (path: string, accept = 'text/html') =>
  fetch(`${service.rest}${path}`, { headers: { accept }, redirect: 'manual' });

/** At most so much JavaScript before the first screen can be drawn. */
const initial_max_bytes = 180 * 1_024;

describe('the console', () => {
  test('loads at most 180 KB of JavaScript at first, compressed', async (t) => {
    const page = await (await get('/console/')).text();
    const scripts = [...page.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+\.js)"/g)];
    const sizes = await Promise.all(
      scripts.map(async ([, path = '']) => {
        const answer = await get(path);
        assert.equal(answer.status, 200);
        assert.match(answer.headers.get('cache-control') ?? '', /immutable/);
        return gzipSync(Buffer.from(await answer.arrayBuffer()), { level: 9 }).length;
      }),
    );
    const total = sizes.reduce((sum, size) => sum + size, 0);
    t.diagnostic(`${sizes.length} scripts, ${total} bytes`);
    assert.ok(sizes.length > 0);
    assert.ok(total <= initial_max_bytes, `${total} bytes`);
  });

  test('is under a policy without anything inline, with a nonce of its own in every answer', async () => {
    const answers = await Promise.all([get('/console/'), get('/console/payments?mode=test')]);
    const nonces = await Promise.all(
      answers.map(async (answer) => {
        const policy = answer.headers.get('content-security-policy') ?? '';
        assert.match(policy, /default-src 'none'; script-src 'self';/);
        assert.doesNotMatch(policy, /unsafe|\*|data:/);
        const [, nonce = ''] = /'nonce-([^']+)'/.exec(policy) ?? [];
        const page = await answer.text();
        assert.ok(page.includes(`nonce="${nonce}"`));
        assert.doesNotMatch(page, /<style|<script>|\son\w+=/);
        return nonce;
      }),
    );
    assert.notEqual(nonces[0], nonces[1]);
  });

  test('answers its screens alone: what is no file and no screen is not found', async () => {
    for (const [path, status] of [
      ['/console', 303],
      ['/console/payments', 200],
      ['/console/assets/nothing.js', 404],
      ['/console/assets/..%2f..%2fpackage.json', 404],
      ['/console/favicon.ico', 404],
      ['/console/login', 404],
    ] as const)
      assert.equal((await get(path)).status, status, path);
  });
});

describe('the start page', () => {
  test('is a page for people and JSON for programs', async () => {
    const page = await get('/');
    assert.match(page.headers.get('content-type') ?? '', /text\/html/);
    assert.match(await page.text(), /href="\/console\/"/);
    const json = (await (await get('/', 'application/json')).json()) as Record<string, string>;
    assert.equal(json['console'], '/console/');
    for (const path of Object.values(json).filter((value) => value.startsWith('/docs')))
      assert.equal((await get(path)).status, 200);
  });
});
