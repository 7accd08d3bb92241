import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import {
  issueKey,
  requireSignature,
  rotateSigningSecret,
  send,
  signed,
  signedWhole,
  withinASecond,
  type Heard,
  type Sending,
  type SignedParts,
} from '../support/cabinet.ts';
import { askGraph, makeMerchant } from '../support/merchant.ts';
import { startService } from '../support/service.ts';

const service = await startService('one');
after(() => service.stop());
const api = `${service.rest}/v1/public`;
const json = { 'content-type': 'application/json' };

/** A shop with a signing secret, which demands signatures unless told otherwise. */
const openShop = async (required = true) => {
  const merchant = await makeMerchant(service);
  const secret = await rotateSigningSecret(service, merchant);
  if (required) await requireSignature(service, merchant, true);
  const call = (path: string, sending: Sending = {}): Promise<Heard> => send({ url: `${api}${path}`, key: merchant.key, ...sending });
  const pay = (body: string, signature: string | readonly string[] | null): Promise<Heard> =>
    call('/payments', { method: 'POST', body, headers: { ...json, ...(signature === null ? {} : { 'x-psp-signature': signature }) } });
  return { merchant, secret, call, pay };
};

const payment = '{"amount":100}';
const statusAndCode = ({ status, code }: Heard): readonly [number, string] => [status, code];

describe('a shop that demands signatures', async () => {
  const { merchant, secret, call, pay } = await openShop();
  const right = signed(secret, payment);

  test('takes a request that is signed', async () => assert.equal((await pay(payment, right)).status, 201));

  test('refuses one that is not, with 400 signature_required', async () => {
    assert.deepEqual(statusAndCode(await pay(payment, null)), [400, 'signature_required']);
    assert.deepEqual(statusAndCode(await call('/banks/sbp')), [400, 'signature_required']);
  });

  const hex = right.slice('sha256='.length);
  const wrong: Readonly<Record<string, string | readonly string[]>> = {
    'of another body': signed(secret, '{"amount":101}'),
    'of the same body laid out anew': signed(secret, '{ "amount": 100 }'),
    'by another secret': signed(`${secret}x`, payment),
    'by the key': signed(merchant.key, payment),
    'in capitals': `sha256=${hex.toUpperCase()}`,
    'without its algorithm': hex,
    'by another algorithm': `sha512=${hex}`,
    'one character short': right.slice(0, -1),
    'one character long': `${right}0`,
    'of no hex': `sha256=${'g'.repeat(64)}`,
    'of the webhooks’ form': `t=1,v1=${hex},v2=${hex}`,
    'that is empty': '',
    'sent twice': [right, right],
    'listed twice': `${right}, ${right}`,
  };
  for (const [name, signature] of Object.entries(wrong)) {
    test(`refuses a signature ${name} with 400 invalid_signature`, async () =>
      assert.deepEqual(statusAndCode(await pay(payment, signature)), [400, 'invalid_signature']));
  }

  const bodies: Readonly<Record<string, string>> = {
    'with odd white space': ' \t{ "amount"\r\n:  100 } \n\n',
    'with unicode': '{"amount":100,"description":"Чай и торт 🍰 \u2028"}',
    'with escapes': '{"amount":100,"description":"\\u0427\\u0430\\u0439"}',
    'with keys in another order': '{"order_id":"o-1","amount":100}',
  };
  for (const [name, body] of Object.entries(bodies)) {
    test(`takes the signature of the very bytes of a body ${name}`, async () => {
      assert.equal((await pay(body, signed(secret, body))).status, 201);
      assert.equal((await pay(body, signed(secret, `${body} `))).code, 'invalid_signature');
    });
  }

  test('takes the signature of a body that comes in chunks', async () => {
    const headers = { ...json, 'x-psp-signature': right };
    assert.equal((await call('/payments', { method: 'POST', body: payment, chunked: true, headers })).status, 201);
  });

  test('takes the signature of nothing for a GET and for a POST without a body', async () => {
    const headers = { 'x-psp-signature': signed(secret, '') };
    assert.equal((await call('/payments?limit=1', { headers })).status, 200);
    const id = (await pay(payment, right)).body.payment.id;
    assert.deepEqual((await call(`/payments/${id}/cancel`, { method: 'POST', headers })).body, { status: 'cancelled' });
    assert.equal((await call(`/payments/${id}`, { headers: { 'x-psp-signature': right } })).code, 'invalid_signature');
  });

  test('says which header is wrong and never the right one', async () => {
    const { message } = await pay(payment, 'sha256=x');
    assert.match(message, /^X-PSP-Signature: expected sha256=/);
    assert(!message.includes(hex));
  });
});

describe('a shop that demands none', async () => {
  const { pay, secret } = await openShop(false);

  test('takes a request without a signature, or with a right one', async () => {
    assert.equal((await pay(payment, null)).status, 201);
    assert.equal((await pay(payment, signed(secret, payment))).status, 201);
  });

  test('checks one that was sent all the same (decision D-03b)', async () => {
    assert.deepEqual(statusAndCode(await pay(payment, signed(secret, 'x'))), [400, 'invalid_signature']);
  });

  test('has nothing to check one by before it has a secret', async () => {
    const { key } = await makeMerchant(service);
    const answer = await send({ url: `${api}/payments`, key, method: 'POST', body: payment, headers: { ...json, 'x-psp-signature': signed('', payment) } });
    assert.deepEqual(statusAndCode(answer), [400, 'invalid_signature']);
  });
});

describe('the switch and the secret', () => {
  test('signatures cannot be demanded before there is a secret', async () => {
    const merchant = await makeMerchant(service);
    const refused = await requireSignature(service, merchant, true);
    assert.deepEqual([refused.__typename, refused.code], ['Refused', 'bad_request']);
  });

  test('a secret is thm_ and not shown again, nor in the audit log', async () => {
    const { merchant, secret } = await openShop();
    assert.match(secret, /^thm_[A-Za-z0-9]{32}$/);
    const log = await askGraph(service, 'query ($m: ID!) { auditLog(merchantId: $m) { nodes { action before after } } }', { m: merchant.id });
    assert(log.auditLog.nodes.some(({ action }: { action: string }) => action === 'shop.signing_secret_rotate'));
    assert(!JSON.stringify(log).includes(secret.slice(4)));
  });

  test('the old secret stops at once when it is rotated', async () => {
    const { merchant, secret, pay } = await openShop();
    assert.equal((await pay(payment, signed(secret, payment))).status, 201);
    const next = await rotateSigningSecret(service, merchant);
    await withinASecond('invalid_signature', async () => (await pay(payment, signed(secret, payment))).code);
    assert.equal((await pay(payment, signed(next, payment))).status, 201);
  });

  test('the webhooks’ secret signs no requests, and its rotation changes nothing here', async () => {
    const { merchant, secret, pay } = await openShop();
    const webhookSecret = await merchant.endpoint('https://shop.example/hook');
    assert.match(webhookSecret, /^whs_/);
    assert.equal((await pay(payment, signed(webhookSecret, payment))).code, 'invalid_signature');
    assert.equal((await pay(payment, signed(secret, payment))).status, 201);
  });

  test('no demand any more once it is switched off', async () => {
    const { merchant, pay } = await openShop();
    assert.equal((await pay(payment, null)).code, 'signature_required');
    assert.equal((await requireSignature(service, merchant, false)).requireSignature, false);
    await withinASecond(201, async () => (await pay(payment, null)).status);
  });

  test('one shop’s demand is not another’s', async () => {
    const { merchant } = await openShop();
    const made = await askGraph(service, 'mutation ($m: ID!) { shopCreate(merchantId: $m, name: "B") { ... on Shop { id } } }', { m: merchant.id });
    const other = await issueKey(service, { id: merchant.id, shopId: made.shopCreate.id });
    assert.equal((await send({ url: `${api}/banks/sbp`, key: other.secret })).status, 200);
  });
});

describe('the graph, for a key whose shop demands signatures', async () => {
  const { merchant, secret } = await openShop();
  const ask = (body: string, headers: Record<string, string>) =>
    send({ url: `${service.graph}/graphql`, key: merchant.key, method: 'POST', body, headers: { ...json, ...headers } });
  const query = ' {"query" : "{ sbpBanks { name } }"}\n';

  test('wants the signature of the HTTP request’s raw body', async () => {
    assert.deepEqual(statusAndCode(await ask(query, {})), [400, 'signature_required']);
    assert.deepEqual(statusAndCode(await ask(query, { 'x-psp-signature': signed(secret, query.trim()) })), [400, 'invalid_signature']);
    const { status, body } = await ask(query, { 'x-psp-signature': signed(secret, query) });
    assert.equal(status, 200);
    assert(body.data.sbpBanks.length > 0);
  });

  test('checks it before the body is read', async () => {
    assert.equal((await ask('{', { 'x-psp-signature': signed(secret, 'x') })).code, 'invalid_signature');
    assert.deepEqual(statusAndCode(await ask('{', { 'x-psp-signature': signed(secret, '{') })), [400, 'bad_request']);
  });

  test('wants that of nothing for a GET', async () => {
    const url = `${service.graph}/graphql?query=${encodeURIComponent('{ sbpBanks { name } }')}`;
    const headers = { 'apollo-require-preflight': '1' };
    assert.equal((await send({ url, key: merchant.key, headers })).code, 'signature_required');
    assert.equal((await send({ url, key: merchant.key, headers: { ...headers, 'x-psp-signature': signed(secret, '') } })).status, 200);
  });

  const connect = (parameters: Record<string, string>) =>
    createClient({
      url: `${service.graph.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { authorization: `Bearer ${merchant.key}`, ...parameters },
      retryAttempts: 0,
    });

  test('lets a socket in with the signature of nothing, to read but not to change', async () => {
    const client = connect({ 'X-PSP-Signature': signed(secret, '') });
    const run = async (text: string): Promise<any> => (await client.iterate({ query: text }).next()).value;
    const { data } = await run('{ sbpBanks { name } }');
    assert(data.sbpBanks.length > 0);
    const change = run('mutation { paymentCreate(input: { amount: 100 }) { __typename } }');
    await assert.rejects(change, (errors: any) => errors[0].extensions.code === 'signature_required');
    await client.dispose();
  });

  test('closes a socket without one', async () => {
    const client = connect({});
    await assert.rejects(client.iterate({ query: '{ sbpBanks { name } }' }).next(), { code: 4403 });
    await client.dispose();
  });
});

/** The example of the README, as a merchant pastes it. */
const readmeExample = (): string => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const [, example] = /### Signing requests[^]*?```sh\n([^]*?)```/.exec(readme) ?? [];
  return example ?? assert.fail('the README has no example');
};

describe('a signature of the whole request (decision D-02a)', async () => {
  const { merchant, secret, call, pay } = await openShop();
  await requireSignature(service, merchant, true, true);
  const target = '/v1/public/payments';
  const whole = (parts: Partial<SignedParts> = {}) => signedWhole(secret, { method: 'POST', target, body: payment, ...parts });

  test('is taken, also without a body, with a query and with an idempotency key', async () => {
    const { status, body } = await pay(payment, whole());
    assert.equal(status, 201);
    const { id } = body.payment;
    const get = async (path: string) =>
      (await call(path, { headers: { 'x-psp-signature': signedWhole(secret, { method: 'GET', target: `/v1/public${path}` }) } })).status;
    assert.deepEqual([await get(`/payments/${id}`), await get('/payments?limit=1&status=pending')], [200, 200]);
    const headers = { ...json, 'idempotency-key': 'k 1', 'x-psp-signature': whole({ key: 'k 1' }) };
    assert.equal((await call('/payments', { method: 'POST', body: payment, headers })).status, 201);
  });

  test('that was captured from a GET refunds nothing', async () => {
    const { id } = (await pay(payment, whole())).body.payment;
    const ofGet = signedWhole(secret, { method: 'GET', target: `/v1/public/payments/${id}` });
    const post = (signature: string) => call(`/payments/${id}/refund`, { method: 'POST', headers: { 'x-psp-signature': signature } });
    assert.deepEqual(statusAndCode(await post(ofGet)), [400, 'invalid_signature']);
    // The contract's signature of nothing is that of every request without a body.
    assert.deepEqual(statusAndCode(await post(signed(secret, ''))), [400, 'invalid_signature']);
    const own = signedWhole(secret, { method: 'POST', target: `/v1/public/payments/${id}/refund` });
    assert.deepEqual(statusAndCode(await post(own)), [409, 'payment_not_succeeded']);
  });

  const wrong: Readonly<Record<string, () => string>> = {
    'of another body': () => whole({ body: '{"amount":101}' }),
    'of another method': () => whole({ method: 'GET' }),
    'of another path': () => whole({ target: '/v1/public/payouts' }),
    'of another query': () => whole({ target: `${target}?limit=1` }),
    'with an idempotency key that was not sent': () => whole({ key: 'k' }),
    'by another secret': () => signedWhole(`${secret}x`, { method: 'POST', target, body: payment }),
    'that is too old': () => whole({ in_s: -320 }),
    'from the future': () => whole({ in_s: 320 }),
    'whose moment was changed': () => whole({ in_s: -320 }).replace(/^t=\d+/, `t=${Math.floor(Date.now() / 1_000)}`),
    'in capitals': () => whole().replace(/s2=.*/, (hex) => hex.toUpperCase().replace('S2', 's2')),
    'without its moment': () => whole().replace(/^t=\d+,/, ''),
    'of the body alone': () => signed(secret, payment),
  };
  for (const [name, make] of Object.entries(wrong)) {
    test(`${name} is 400 invalid_signature`, async () => assert.deepEqual(statusAndCode(await pay(payment, make())), [400, 'invalid_signature']));
  }

  test('without the idempotency key that was sent is 400 invalid_signature', async () => {
    const headers = { ...json, 'idempotency-key': 'k 2', 'x-psp-signature': whole() };
    assert.deepEqual(statusAndCode(await call('/payments', { method: 'POST', body: payment, headers })), [400, 'invalid_signature']);
  });

  test('that is missing is 400 signature_required', async () => {
    const { status, code, message } = await pay(payment, null);
    assert.deepEqual([status, code], [400, 'signature_required']);
    assert.match(message, /t=<unix>,s2=/);
  });

  test('is taken at most five minutes old or early', async () => {
    for (const in_s of [-280, 280]) assert.equal((await pay(payment, whole({ in_s }))).status, 201);
  });

  test('is taken where signatures of the body alone are, too, and where none is demanded', async () => {
    for (const required of [true, false]) {
      const shop = await openShop(required);
      assert.equal((await shop.pay(payment, signedWhole(shop.secret, { method: 'POST', target, body: payment }))).status, 201);
      assert.equal((await shop.pay(payment, signed(shop.secret, payment))).status, 201);
      assert.equal((await shop.pay(payment, signedWhole(shop.secret, { method: 'POST', target: '/x', body: payment }))).code, 'invalid_signature');
    }
  });

  test('opens the graph over HTTP and a socket, which is judged by the moment when it began', async () => {
    const body = '{"query":"{ sbpBanks { name } }"}';
    const ask = (signature: string) =>
      send({ url: `${service.graph}/graphql`, key: merchant.key, method: 'POST', body, headers: { ...json, 'x-psp-signature': signature } });
    assert.equal((await ask(signedWhole(secret, { method: 'POST', target: '/graphql', body }))).status, 200);
    assert.equal((await ask(signed(secret, body))).code, 'invalid_signature');
    const connect = (signature: string) =>
      createClient({
        url: `${service.graph.replace('http', 'ws')}/graphql`,
        webSocketImpl: WebSocket,
        connectionParams: { authorization: `Bearer ${merchant.key}`, 'x-psp-signature': signature },
        retryAttempts: 0,
      });
    const client = connect(signedWhole(secret, { method: 'GET', target: '/graphql' }));
    const { value }: any = await client.iterate({ query: '{ sbpBanks { name } }' }).next();
    assert.ok(value.data.sbpBanks.length > 0);
    await client.dispose();
    for (const signature of [signed(secret, ''), signedWhole(secret, { method: 'GET', target: '/graphql', in_s: -320 })]) {
      const refused = connect(signature);
      await assert.rejects(refused.iterate({ query: '{ sbpBanks { name } }' }).next(), { code: 4403 });
      await refused.dispose();
    }
  });

  test('opens the stream', async () => {
    const signature = signedWhole(secret, { method: 'GET', target: '/v1/public/events' });
    const response = await fetch(`${api}/events`, { headers: { authorization: `Bearer ${merchant.key}`, 'x-psp-signature': signature } });
    assert.equal(response.status, 200);
    await response.body?.cancel();
    assert.equal((await call('/events', { headers: { 'x-psp-signature': signed(secret, '') } })).code, 'invalid_signature');
  });

  test('is made by the README’s example with openssl, and sent by curl', () => {
    const example = readmeExample().replace(/^KEY=.*$/m, `KEY=${merchant.key} SECRET=${secret} BASE=${service.rest}`);
    const { stdout, status } = spawnSync('sh', ['-e', '-c', example], { encoding: 'utf8' });
    assert.equal(status, 0);
    assert.equal(JSON.parse(stdout).payment.order_id, 'order-1');
  });
});

describe('the demand for signatures of whole requests', () => {
  test('needs that for signatures, is audited, and stays when that is said again', async () => {
    const { merchant } = await openShop(false);
    const refused = await requireSignature(service, merchant, false, true);
    assert.deepEqual([refused.__typename, refused.code], ['Refused', 'bad_request']);
    const seen = [];
    for (const [required, bound] of [
      [true, null],
      [true, true],
      [true, null],
      [true, false],
      [true, true],
      [false, null],
      [true, null],
    ] as const) {
      const shop = await requireSignature(service, merchant, required, bound);
      seen.push([shop.requireSignature, shop.requireBoundSignature]);
    }
    assert.deepEqual(seen, [
      [true, false],
      [true, true],
      [true, true],
      [true, false],
      [true, true],
      [false, false],
      [true, false],
    ]);
    const log = await askGraph(service, 'query ($m: ID!) { auditLog(merchantId: $m) { nodes { action before after } } }', { m: merchant.id });
    const [last] = log.auditLog.nodes.filter(({ action, after: then }: any) => action === 'shop.signature_require' && then.requireBoundSignature);
    assert.deepEqual([last.before.requireBoundSignature, last.after.requireBoundSignature], [false, true]);
  });

  test('ends a stream that was opened with a signature of nothing, and leaves one that was not', async () => {
    const { merchant, secret } = await openShop(true);
    const openStream = async (signature: string, key: string) => {
      const response = await fetch(`${api}/events`, { headers: { authorization: `Bearer ${key}`, 'x-psp-signature': signature } });
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader() ?? assert.fail('no stream');
      assert.match((await reader.read()).value ?? '', /^: connected/);
      return reader;
    };
    const other = await issueKey(service, merchant);
    const weak = await openStream(signed(secret, ''), merchant.key);
    // It is judged by the moment when it began, and here nearly too old then.
    const strong = await openStream(signedWhole(secret, { method: 'GET', target: '/v1/public/events', in_s: -295 }), other.secret);
    await requireSignature(service, merchant, true, true);
    assert.match((await weak.read()).value ?? '', /^: revoked/);
    await weak.cancel();
    await sleep(5_500);
    await requireSignature(service, merchant, true, true);
    const next = await Promise.race([strong.read(), sleep(1_500, 'still open')]);
    assert.equal(next, 'still open');
    await strong.cancel();
  });
});

test('a stream that was opened unsigned ends when the shop begins to demand signatures', async () => {
  const { merchant } = await openShop(false);
  const response = await fetch(`${api}/events`, { headers: { authorization: `Bearer ${merchant.key}` } });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader() ?? assert.fail('no stream');
  assert.match((await reader.read()).value ?? '', /^: connected/);
  await requireSignature(service, merchant, true);
  const { value } = await reader.read();
  assert.match(value ?? '', /^: revoked/);
  await reader.cancel();
  const again = await send({ url: `${api}/events`, key: merchant.key });
  assert.deepEqual(statusAndCode(again), [400, 'signature_required']);
});
