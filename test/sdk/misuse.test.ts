/** What a program gets wrong is a TypeError that names it, before anything is sent. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { browserOf } from '../../sdk/src/psp/account.ts';
import {
  openPaymentClient,
  signWebhook,
  verifyWebhook,
  WebhookError,
} from '../../sdk/src/index.ts';

const mistake = (text: string) => (error: unknown) =>
  error instanceof TypeError && error.message === text;

describe('a client', () => {
  const options = { apiKey: 'sk_test_000000_x', baseUrl: 'http://127.0.0.1:1' };
  const opening = (wrong: object) => () => openPaymentClient({ ...options, ...wrong });

  test('takes no key that a header cannot carry, and no address that is none', () => {
    const noKey = mistake('apiKey: expected sk_test_... or sk_live_...');
    for (const apiKey of ['sk_test_ключ', 'sk_test_a\nb', 'sk_test_', 'key'])
      assert.throws(opening({ apiKey }), noKey);
    const paths = ['http://h/v1/public', 'https://h/proxy/', 'http://h//', 'http://a:b@h'];
    for (const baseUrl of ['', 'localhost:4000', 'http://h/?a=b', 'http://h/#a', ...paths])
      assert.throws(
        opening({ baseUrl }),
        mistake('baseUrl: expected http(s)://host, without a path or query'),
      );
    for (const baseUrl of ['http://h', 'https://h:8443/', 'HTTP://H'])
      assert.doesNotThrow(opening({ baseUrl }));
  });

  test('sends no idempotency key that the service refuses', async () => {
    let sent = 0;
    const fetch: typeof globalThis.fetch = async () => {
      sent += 1;
      return Response.json({});
    };
    const client = openPaymentClient({ ...options, fetch });
    const create = (idempotencyKey: string) =>
      client.payments.create({ amount: 100 }, { idempotencyKey });
    const noKey = mistake('idempotencyKey: expected 1 to 64 printable ASCII characters');
    for (const key of ['заказ-1', 'a\nb', '', ' a', 'a'.repeat(65)])
      await assert.rejects(create(key), noKey);
    assert.equal(sent, 0);
    await create('order 1');
    assert.equal(sent, 1);
  });

  test('takes nothing but an amount for a part, or none for everything', async () => {
    const sent: unknown[] = [];
    const fetch: typeof globalThis.fetch = async (_, { body } = {}) => {
      sent.push(body);
      return Response.json({});
    };
    const { payments } = openPaymentClient({ ...options, fetch });
    for (const act of ['refund', 'capture'] as const) {
      for (const amount of [0, null, NaN, Infinity, 1.5, -5])
        assert.throws(
          () => payments[act]('id', { amount: amount as number }),
          mistake(
            `/v1/public/payments/{id}/${act}: amount ${amount} is no part; leave amount out to take everything`,
          ),
        );
      assert.equal(sent.length, 0);
      await payments[act]('id', { amount: 1 });
      await payments[act]('id', {});
      assert.equal(sent.splice(0).length, 2);
    }
  });
});

test('an address is opened by no shell, which would read its &', () => {
  for (const platform of ['win32', 'darwin', 'linux']) {
    const [program = ''] = browserOf(platform);
    assert.doesNotMatch(program, /cmd|sh$|powershell/, platform);
  }
});

describe('a delivery', async () => {
  const body = JSON.stringify({ id: 'evt_1', event: 'payment.succeeded', data: {} });
  const secret = 'whs_example';
  const genuine = {
    body,
    secret,
    headers: { 'X-PSP-Signature': await signWebhook(body, secret) },
  };
  const verify = (wrong: object) => verifyWebhook({ ...genuine, ...wrong });

  test('is verified by its raw body and its secret, and nothing else', async () => {
    assert.equal((await verify({})).id, 'evt_1');
    assert.equal((await verify({ body: Buffer.from(body) })).id, 'evt_1');
    const raw = 'body: expected the raw bytes or text, got';
    await assert.rejects(verify({ body: JSON.parse(body) }), mistake(`${raw} a parsed object`));
    await assert.rejects(verify({ body: undefined }), mistake(`${raw} undefined`));
    const noSecret = 'secret: expected whs_..., got';
    await assert.rejects(verify({ secret: undefined }), mistake(`${noSecret} undefined`));
    await assert.rejects(verify({ secret: '' }), mistake(`${noSecret} none`));
  });

  test('has one of four formats, and another one is named', async () => {
    for (const format of ['v1', 'Stripe', '', 'toString'])
      await assert.rejects(
        verify({ format }),
        mistake(`format: expected one of v2, stripe, standard, legacy, got ${format}`),
      );
  });

  test('without its signature is refused in these words', async () => {
    const missing = (name: string) => (error: unknown) =>
      error instanceof WebhookError && error.message === `there is no ${name} header`;
    await assert.rejects(verify({ headers: {} }), missing('X-PSP-Signature'));
    await assert.rejects(verify({ headers: new Headers() }), missing('X-PSP-Signature'));
    await assert.rejects(verify({ format: 'standard' }), missing('webhook-signature'));
  });
});
