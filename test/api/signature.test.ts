import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import {
  issueKey,
  requireSignature,
  rotateSigningSecret,
  send,
  signed,
} from '../support/cabinet.ts';
import { askGraph, makeMerchant } from '../support/merchant.ts';
import { openPlainService } from '../support/plain-service.ts';
import { json, openSigningShop, payment, statusAndCode } from './signing-shop.ts';
import { comesTo } from '../support/eventually.ts';

const service = await openPlainService();
after(() => service.stop());
const api = `${service.rest}/v1/public`;

const openShop = (required = true) => openSigningShop(service, required);

describe('a shop that demands signatures', async () => {
  const { merchant, secret, call, pay } = await openShop();
  const right = signed(secret, payment);

  test('takes a request that is signed', async () =>
    assert.equal((await pay(payment, right)).status, 201));

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
    assert.equal(
      (await call('/payments', { method: 'POST', body: payment, chunked: true, headers })).status,
      201,
    );
  });

  test('takes the signature of nothing for a GET and for a POST without a body', async () => {
    const headers = { 'x-psp-signature': signed(secret, '') };
    assert.equal((await call('/payments?limit=1', { headers })).status, 200);
    const id = (await pay(payment, right)).body.payment.id;
    assert.deepEqual((await call(`/payments/${id}/cancel`, { method: 'POST', headers })).body, {
      status: 'cancelled',
    });
    assert.equal(
      (await call(`/payments/${id}`, { headers: { 'x-psp-signature': right } })).code,
      'invalid_signature',
    );
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

  test('checks one that was sent all the same', async () => {
    assert.deepEqual(statusAndCode(await pay(payment, signed(secret, 'x'))), [
      400,
      'invalid_signature',
    ]);
  });

  test('has nothing to check one by before it has a secret', async () => {
    const { key } = await makeMerchant(service);
    const answer = await send({
      url: `${api}/payments`,
      key,
      method: 'POST',
      body: payment,
      headers: { ...json, 'x-psp-signature': signed('', payment) },
    });
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
    const log = await askGraph(
      service,
      'query ($m: ID!) { auditLog(merchantId: $m) { nodes { action before after } } }',
      { m: merchant.id },
    );
    assert(
      log.auditLog.nodes.some(
        ({ action }: { action: string }) => action === 'shop.signing_secret_rotate',
      ),
    );
    assert(!JSON.stringify(log).includes(secret.slice(4)));
  });

  test('the old secret stops at once when it is rotated', async () => {
    const { merchant, secret, pay } = await openShop();
    assert.equal((await pay(payment, signed(secret, payment))).status, 201);
    const next = await rotateSigningSecret(service, merchant);
    await comesTo(
      'invalid_signature',
      async () => (await pay(payment, signed(secret, payment))).code,
    );
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
    await comesTo(201, async () => (await pay(payment, null)).status);
  });

  test('one shop’s demand is not another’s', async () => {
    const { merchant } = await openShop();
    const made = await askGraph(
      service,
      'mutation ($m: ID!) { shopCreate(merchantId: $m, name: "B") { ... on Shop { id } } }',
      { m: merchant.id },
    );
    const other = await issueKey(service, { id: merchant.id, shopId: made.shopCreate.id });
    assert.equal((await send({ url: `${api}/banks/sbp`, key: other.secret })).status, 200);
  });
});

describe('the graph, for a key whose shop demands signatures', async () => {
  const { merchant, secret } = await openShop();
  const ask = (body: string, headers: Record<string, string>) =>
    send({
      url: `${service.graph}/graphql`,
      key: merchant.key,
      method: 'POST',
      body,
      headers: { ...json, ...headers },
    });
  const query = ' {"query" : "{ sbpBanks { name } }"}\n';

  test('wants the signature of the HTTP request’s raw body', async () => {
    assert.deepEqual(statusAndCode(await ask(query, {})), [400, 'signature_required']);
    assert.deepEqual(
      statusAndCode(await ask(query, { 'x-psp-signature': signed(secret, query.trim()) })),
      [400, 'invalid_signature'],
    );
    const { status, body } = await ask(query, { 'x-psp-signature': signed(secret, query) });
    assert.equal(status, 200);
    assert(body.data.sbpBanks.length > 0);
  });

  test('checks it before the body is read', async () => {
    assert.equal(
      (await ask('{', { 'x-psp-signature': signed(secret, 'x') })).code,
      'invalid_signature',
    );
    assert.deepEqual(statusAndCode(await ask('{', { 'x-psp-signature': signed(secret, '{') })), [
      400,
      'bad_request',
    ]);
  });

  test('wants that of nothing for a GET', async () => {
    const url = `${service.graph}/graphql?query=${encodeURIComponent('{ sbpBanks { name } }')}`;
    const headers = { 'apollo-require-preflight': '1' };
    assert.equal((await send({ url, key: merchant.key, headers })).code, 'signature_required');
    assert.equal(
      (
        await send({
          url,
          key: merchant.key,
          headers: { ...headers, 'x-psp-signature': signed(secret, '') },
        })
      ).status,
      200,
    );
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
    const run = async (text: string): Promise<any> =>
      (await client.iterate({ query: text }).next()).value;
    const { data } = await run('{ sbpBanks { name } }');
    assert(data.sbpBanks.length > 0);
    const change = run('mutation { paymentCreate(input: { amount: 100 }) { __typename } }');
    await assert.rejects(
      change,
      (errors: any) => errors[0].extensions.code === 'signature_required',
    );
    await client.dispose();
  });

  test('closes a socket without one', async () => {
    const client = connect({});
    await assert.rejects(client.iterate({ query: '{ sbpBanks { name } }' }).next(), { code: 4403 });
    await client.dispose();
  });
});

test('a stream that was opened unsigned ends when the shop begins to demand signatures', async () => {
  const { merchant } = await openShop(false);
  const response = await fetch(`${api}/events`, {
    headers: { authorization: `Bearer ${merchant.key}` },
  });
  const reader =
    response.body?.pipeThrough(new TextDecoderStream()).getReader() ?? assert.fail('no stream');
  assert.match((await reader.read()).value ?? '', /^: connected/);
  await requireSignature(service, merchant, true);
  const { value } = await reader.read();
  assert.match(value ?? '', /^: revoked/);
  await reader.cancel();
  const again = await send({ url: `${api}/events`, key: merchant.key });
  assert.deepEqual(statusAndCode(again), [400, 'signature_required']);
});
