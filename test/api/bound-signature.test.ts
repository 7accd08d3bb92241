import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { issueKey, requireSignature, send, signed } from '../support/cabinet.ts';
import { askGraph } from '../support/merchant.ts';
import { openPlainService } from '../support/plain-service.ts';
import { eventually } from '../support/eventually.ts';
import { json, openSigningShop, payment, statusAndCode } from './signing-shop.ts';

const service = await openPlainService();
after(() => service.stop());
const api = `${service.rest}/v1/public`;
const openShop = (required = true) => openSigningShop(service, required);

/** What a signature of the whole request is over (guides/en/details.md, "Signing requests"). */
interface SignedDeps {
  readonly method: string;
  /** The path with its query. */
  readonly target: string;
  readonly key?: string;
  readonly body?: string | Uint8Array;
  /** Seconds from now. */
  readonly in_s?: number;
}

/** The header of a signature over the whole request, computed independently of the service. */
const signedWhole = (
  secret: string,
  { method, target, key = '', body = '', in_s = 0 }: SignedDeps,
): string => {
  const t = Math.floor(Date.now() / 1_000) + in_s;
  return `t=${t},s2=${createHmac('sha256', secret).update(`${t}\n${method}\n${target}\n${key}\n`).update(body).digest('hex')}`;
};

/** The example of the guide, as a merchant pastes it. */
const pastedExample = (): string => {
  const notes = readFileSync(
    new URL('../../rest-facade/guides/en/details.md', import.meta.url),
    'utf8',
  );
  const [, example] = /## Signing requests[^]*?```sh signed\n([^]*?)```/.exec(notes) ?? [];
  return example ?? assert.fail('the guide has no example');
};

describe('a signature of the whole request', async () => {
  const { merchant, secret, call, pay } = await openShop();
  await requireSignature(service, merchant, true, true);
  const target = '/v1/public/payments';
  const whole = (parts: Partial<SignedDeps> = {}) =>
    signedWhole(secret, { method: 'POST', target, body: payment, ...parts });

  test('is taken, also without a body, with a query and with an idempotency key', async () => {
    const { status, body } = await pay(payment, whole());
    assert.equal(status, 201);
    const { id } = body.payment;
    const get = async (path: string) =>
      (
        await call(path, {
          headers: {
            'x-psp-signature': signedWhole(secret, { method: 'GET', target: `/v1/public${path}` }),
          },
        })
      ).status;
    assert.deepEqual(
      [await get(`/payments/${id}`), await get('/payments?limit=1&status=pending')],
      [200, 200],
    );
    const headers = { ...json, 'idempotency-key': 'k 1', 'x-psp-signature': whole({ key: 'k 1' }) };
    assert.equal((await call('/payments', { method: 'POST', body: payment, headers })).status, 201);
  });

  test('that was captured from a GET refunds nothing', async () => {
    const { id } = (await pay(payment, whole())).body.payment;
    const ofGet = signedWhole(secret, { method: 'GET', target: `/v1/public/payments/${id}` });
    const post = (signature: string) =>
      call(`/payments/${id}/refund`, { method: 'POST', headers: { 'x-psp-signature': signature } });
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
    'whose moment was changed': () =>
      whole({ in_s: -320 }).replace(/^t=\d+/, `t=${Math.floor(Date.now() / 1_000)}`),
    'in capitals': () => whole().replace(/s2=.*/, (hex) => hex.toUpperCase().replace('S2', 's2')),
    'without its moment': () => whole().replace(/^t=\d+,/, ''),
    'of the body alone': () => signed(secret, payment),
  };
  for (const [name, make] of Object.entries(wrong)) {
    test(`${name} is 400 invalid_signature`, async () =>
      assert.deepEqual(statusAndCode(await pay(payment, make())), [400, 'invalid_signature']));
  }

  test('without the idempotency key that was sent is 400 invalid_signature', async () => {
    const headers = { ...json, 'idempotency-key': 'k 2', 'x-psp-signature': whole() };
    assert.deepEqual(
      statusAndCode(await call('/payments', { method: 'POST', body: payment, headers })),
      [400, 'invalid_signature'],
    );
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
      assert.equal(
        (
          await shop.pay(
            payment,
            signedWhole(shop.secret, { method: 'POST', target, body: payment }),
          )
        ).status,
        201,
      );
      assert.equal((await shop.pay(payment, signed(shop.secret, payment))).status, 201);
      assert.equal(
        (
          await shop.pay(
            payment,
            signedWhole(shop.secret, { method: 'POST', target: '/x', body: payment }),
          )
        ).code,
        'invalid_signature',
      );
    }
  });

  test('opens the graph over HTTP and a socket, which is judged by the moment when it began', async () => {
    const body = '{"query":"{ sbpBanks { name } }"}';
    const ask = (signature: string) =>
      send({
        url: `${service.graph}/graphql`,
        key: merchant.key,
        method: 'POST',
        body,
        headers: { ...json, 'x-psp-signature': signature },
      });
    assert.equal(
      (await ask(signedWhole(secret, { method: 'POST', target: '/graphql', body }))).status,
      200,
    );
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
    for (const signature of [
      signed(secret, ''),
      signedWhole(secret, { method: 'GET', target: '/graphql', in_s: -320 }),
    ]) {
      const refused = connect(signature);
      await assert.rejects(refused.iterate({ query: '{ sbpBanks { name } }' }).next(), {
        code: 4403,
      });
      await refused.dispose();
    }
  });

  test('opens the stream', async () => {
    const signature = signedWhole(secret, { method: 'GET', target: '/v1/public/events' });
    const response = await fetch(`${api}/events`, {
      headers: { authorization: `Bearer ${merchant.key}`, 'x-psp-signature': signature },
    });
    assert.equal(response.status, 200);
    await response.body?.cancel();
    assert.equal(
      (await call('/events', { headers: { 'x-psp-signature': signed(secret, '') } })).code,
      'invalid_signature',
    );
  });

  test('is made by the guide’s example with openssl, and sent by curl', () => {
    const { stdout, status } = spawnSync('sh', ['-e', '-c', pastedExample()], {
      encoding: 'utf8',
      env: {
        PATH: process.env['PATH'],
        PSP_URL: service.rest,
        PSP_API_KEY: merchant.key,
        PSP_SIGNING_SECRET: secret,
      },
    });
    assert.equal(status, 0);
    assert.equal(JSON.parse(stdout).payment.order_id, '8001');
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
    const log = await askGraph(
      service,
      'query ($m: ID!) { auditLog(merchantId: $m) { nodes { action before after } } }',
      { m: merchant.id },
    );
    const [last] = log.auditLog.nodes.filter(
      ({ action, after: then }: any) =>
        action === 'shop.signature_require' && then.requireBoundSignature,
    );
    assert.deepEqual(
      [last.before.requireBoundSignature, last.after.requireBoundSignature],
      [false, true],
    );
  });

  test('ends a stream that was opened with a signature of nothing, and leaves one that was not', async () => {
    const { merchant, secret, pay } = await openShop(true);
    const openStream = async (signature: string, key: string) => {
      const response = await fetch(`${api}/events`, {
        headers: { authorization: `Bearer ${key}`, 'x-psp-signature': signature },
      });
      const reader =
        response.body?.pipeThrough(new TextDecoderStream()).getReader() ?? assert.fail('no stream');
      assert.match((await reader.read()).value ?? '', /^: connected/);
      return reader;
    };
    const other = await issueKey(service, merchant);
    const weak = await openStream(signed(secret, ''), merchant.key);
    // It is judged by the moment when it began, and here nearly too old then: a slow machine tries
    // again.
    const target = '/v1/public/events';
    const strong = await eventually(() => {
      const signature = signedWhole(secret, { method: 'GET', target, in_s: -298 });
      return openStream(signature, other.secret).catch(() => null);
    }, 'the stream of an old signature');
    await requireSignature(service, merchant, true, true);
    assert.match((await weak.read()).value ?? '', /^: revoked/);
    await weak.cancel();
    await sleep(2_500);
    for (const amount of [1_001, 1_002]) {
      await requireSignature(service, merchant, true, true);
      const body = JSON.stringify({ amount });
      const made = await pay(
        body,
        signedWhole(secret, { method: 'POST', target: '/v1/public/payments', body }),
      );
      assert.equal(made.status, 201);
      let read = '';
      while (!read.includes('event: payment.created')) {
        const { value, done } = await strong.read();
        assert.ok(!done, `it ended with ${read}`);
        read += value;
      }
    }
    await strong.cancel();
  });
});
