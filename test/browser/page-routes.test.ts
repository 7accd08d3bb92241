/**
 * The hosted page's routes over HTTP: what they say about themselves, what they refuse, and what
 * must never be written down.
 */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import fastify from 'fastify';
import { GraphQLError } from 'graphql';
import { pino } from 'pino';
import { openAddressOf } from '../../subgraphs/platform/access/caller-address.ts';
import { registerCheckout } from '../../rest-facade/checkout/register-checkout.ts';
import { signPageToken } from '../../subgraphs/platform/access/keys.ts';
import { openHarness, type Created, type Harness } from './harness.ts';

const card = { number: '2200000000000004', expiry: '12/40', cvc: '123', holder: 'IVAN IVANOV' };

describe('the routes of the hosted page', () => {
  let harness: Harness;
  let payment: Created;
  before(async () => {
    harness = await openHarness({ LOG_LEVEL: 'trace' });
    payment = await harness.create({ method: 'cards', amount: 10_005 });
  });
  after(() => harness?.close());

  const send = async (what: string, body: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${payment.url}/${what}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await response.text();
    return {
      status: response.status,
      text,
      code: text.startsWith('{') ? JSON.parse(text).error?.code : null,
    };
  };

  test('the page is not cached, framed, indexed, nor told about, and runs only what this host serves', async () => {
    const { status, headers } = await fetch(payment.url);
    assert.equal(status, 200);
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.equal(headers.get('x-robots-tag'), 'noindex, nofollow');
    assert.equal(headers.get('x-frame-options'), 'DENY');
    const policy = headers.get('content-security-policy') ?? '';
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ]) {
      assert.ok(policy.includes(rule), `${rule} in ${policy}`);
    }
    assert.ok(!policy.includes('unsafe'), policy);
    assert.equal(headers.get('set-cookie'), null);
  });

  test('the document holds no script and no style of its own, and nothing from another host', async () => {
    const document = await (await fetch(payment.url)).text();
    assert.doesNotMatch(document, /<script(?![^>]* src=)|<style|\sstyle=|\son\w+=/);
    const addresses = [...document.matchAll(/(?:src|href)="([^"]*)"/g)].map(
      ([, address]) => address ?? '',
    );
    assert.ok(addresses.length > 8);
    for (const address of addresses) assert.match(address, /^(\/pay\/assets\/|\?lang=)/);
  });

  test('assets are kept for a year under an address of their content, compressed', async () => {
    const document = await (await fetch(payment.url)).text();
    const addresses = new Set(
      [...document.matchAll(/"(\/pay\/assets\/[^"]+)"/g)].map(([, address]) => address ?? ''),
    );
    assert.ok(addresses.size >= 8);
    for (const address of addresses) {
      const { status, headers } = await fetch(new URL(address, payment.url), {
        headers: { 'accept-encoding': 'gzip, br' },
      });
      assert.deepEqual(
        [status, headers.get('cache-control')],
        [200, 'public, max-age=31536000, immutable'],
        address,
      );
      assert.equal(headers.get('content-encoding') === 'br', !address.endsWith('.woff2'), address);
    }
    const [style = ''] = [...addresses].filter((address) => address.endsWith('.css'));
    const other = await fetch(new URL(style.replace(/assets\/\w+/, 'assets/0000'), payment.url));
    assert.deepEqual([other.status, other.headers.get('cache-control')], [200, 'no-store']);
    assert.equal((await fetch(new URL('/pay/assets/0000/main.ts', payment.url))).status, 404);
  });

  test('an address with a slash at its end leads to the page', async () => {
    const { status, headers } = await fetch(`${payment.url}/`, { redirect: 'manual' });
    assert.deepEqual(
      [status, headers.get('location'), headers.get('cache-control')],
      [308, new URL(payment.url).pathname, 'no-store'],
    );
  });

  test('an unknown or altered token is a page with 404, and 404 in the envelope where JSON is asked for', async () => {
    const altered = payment.url.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    const others = ['/pay', '/pay/nonsense', '/pay/nonsense/more/of?it=1'].map(
      (path) => `${new URL(payment.url).origin}${path}`,
    );
    for (const url of [altered, `${altered}/bank`, `${payment.url}/more`, ...others]) {
      const response = await fetch(url);
      assert.deepEqual(
        [response.status, response.headers.get('content-type')],
        [404, 'text/html; charset=utf-8'],
        url,
      );
    }
    const state = await fetch(`${altered}/state`);
    const { error } = JSON.parse(await state.text());
    assert.deepEqual([state.status, error.code], [404, 'not_found']);
  });

  test('the state is the checkout as JSON, and 304 for who has seen it', async () => {
    const response = await fetch(`${payment.url}/state?lang=en`);
    const state = JSON.parse(await response.text());
    assert.deepEqual(
      [state.paymentId, state.status, state.method, state.amount],
      [payment.id, 'pending', 'cards', 10_005],
    );
    assert.match(state.regions.panel, /Card number/);
    const seen = { 'if-none-match': response.headers.get('etag') ?? '' };
    assert.equal((await fetch(`${payment.url}/state?lang=en`, { headers: seen })).status, 304);
    assert.equal((await fetch(`${payment.url}/state?lang=ru`, { headers: seen })).status, 200);
  });

  test('what another site sends is refused', async () => {
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }]) {
      assert.equal((await send('pay', { card }, headers)).status, 403);
    }
    const old = await fetch(`${payment.url}/pay`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: 'https://evil.example' },
      body: JSON.stringify({ card }),
    });
    assert.equal(old.status, 403);
    assert.equal((await payment.read()).status, 'pending');
  });

  test('bodies that are not what they should be are refused in the envelope', async () => {
    assert.equal((await send('pay', '{"card":')).code, 'bad_request');
    assert.equal((await send('pay', { card: { ...card, number: 4111 } })).code, 'bad_request');
    assert.equal((await send('pay', { card: { ...card, number: '' } })).code, 'bad_request');
    assert.equal((await send('pay', { card, extra: 1 })).code, 'bad_request');
    assert.equal((await send('pay', {})).code, 'bad_request');
    assert.equal((await send('method', { method: 'recurrent' })).code, 'bad_request');
    const twice = await send(
      'pay',
      JSON.stringify({ card }).replace('{"number"', '{"cvc":"1","number"'),
    );
    assert.deepEqual(
      [twice.status, JSON.parse(twice.text).error],
      [400, { code: 'bad_request', message: 'card.cvc: expected once, got several' }],
    );
    const method = await send('method', '{"method":"sbp","method":"cards"}');
    assert.match(method.text, /method: expected once, got several/);
    assert.equal((await send('plan', { outcome: 'rich' })).code, 'bad_request');
    assert.equal(
      (await send('pay', JSON.stringify({ card }), { 'content-type': 'text/plain' })).code,
      'unsupported_media_type',
    );
    assert.equal(
      (await send('pay', { card: { ...card, holder: 'A'.repeat(3_000) } })).code,
      'payload_too_large',
    );
    assert.equal((await payment.read()).status, 'pending');
  });

  test('the simulated bank has nothing to show before the buyer goes to it', async () => {
    const response = await fetch(`${payment.url}/bank`, { redirect: 'manual' });
    assert.deepEqual(
      [response.status, response.headers.get('location')],
      [303, new URL(payment.url).pathname],
    );
  });

  test('what a merchant wrote is shown as text, whatever it is', async () => {
    const named = await harness.create({
      description: '<script>alert(1)</script> "quoted" & more',
      order_id: `'"><img src=x>`,
    });
    const document = await (await fetch(named.url)).text();
    assert.match(
      document,
      /&lt;script&gt;alert\(1\)&lt;\/script&gt; &quot;quoted&quot; &amp; more/,
    );
    assert.doesNotMatch(document, /<img|<script>alert/);
  });

  test('a card that was paid with is written nowhere: not into the logs at their loudest', async () => {
    assert.equal((await send('pay', { card })).status, 200);
    assert.equal((await send('pay', { card })).code, 'not_pending');
    const answered = await harness.printed();
    assert.ok(answered.includes('/pay/:token'), 'the requests were logged');
    for (const secret of [card.number, '0000000000000004', card.holder, '"123"'])
      assert.ok(!answered.includes(secret), `${secret} was logged`);
    assert.ok(!answered.includes(new URL(payment.url).pathname.slice(5)), 'the token was logged');
  });

  test('a payment that its merchant created as recurrent is paid by card, and stays recurrent', async () => {
    const recurrent = await harness.create({ method: 'recurrent' });
    const response = await fetch(`${recurrent.url}/pay`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({ card }),
    });
    assert.equal(response.status, 200, await response.text());
    const { status, method, customer_card_mask: mask } = await recurrent.read();
    assert.deepEqual([status, method, mask], ['processing', 'recurrent', '**** **** **** 0004']);
  });

  test('its own stream begins with what the page does not show yet, and says what becomes of the payment', async () => {
    const watched = await harness.create();
    const { body } = await fetch(`${watched.url}/events?tag=other`);
    assert(body);
    const events: string[] = [];
    for await (const { event, data } of body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream())) {
      events.push(`${event} ${JSON.parse(data).status}`);
      if (events.length === 1) await harness.cancel(watched);
      else break;
    }
    assert.deepEqual(events, ['state pending', 'state cancelled']);
  });
});

test('while a part of the service is away, the page and its calls are 503 with Retry-After, and our own faults are 500', async () => {
  const pageSecret = Buffer.alloc(32, 1);
  const address = `/pay/${signPageToken(pageSecret, { merchantId: crypto.randomUUID(), paymentId: crypto.randomUUID() })}`;
  for (const [code, status, answered] of [
    ['unavailable', 503, 'unavailable'],
    ['internal_error', 500, 'internal_error'],
  ] as const) {
    const run = async () => ({
      data: null,
      errors: [new GraphQLError('no', { extensions: { code } })],
    });
    const app = fastify();
    registerCheckout(app, {
      supergraph: { operation: (name) => ({ name, run }) as never },
      pageSecret,
      liveEvents: { read: () => assert.fail('a stream was opened') },
      addressOf: openAddressOf([]),
      log: pino({ level: 'silent' }),
    });
    const page = await app.inject(address);
    const state = await app.inject(`${address}/state`);
    assert.deepEqual(
      [page.statusCode, page.headers['content-type']],
      [status, 'text/html; charset=utf-8'],
    );
    assert.deepEqual(
      [state.statusCode, state.json().error.code, state.headers['retry-after']],
      [status, answered, status === 503 ? '1' : undefined],
    );
    await app.close();
  }
});
