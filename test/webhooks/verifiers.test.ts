import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test, type TestContext } from 'node:test';
import { verify as verifyByOctokit } from '@octokit/webhooks-methods';
import fastify from 'fastify';
import { Webhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import {
  signWebhook,
  verifyWebhook as verifyDelivery,
  WebhookError,
  type Delivery,
} from '../../sdk/src/index.ts';
import { guideLanguages } from '../../rest-facade/guides/pages.ts';
import { readGuide } from '../../rest-facade/guides/read-guide.ts';
import { serveVerifiers } from '../../rest-facade/guides/snippets.ts';
import type { Relay } from '../../subgraphs/platform/events/relay.ts';
import { seal } from '../../subgraphs/platform/access/keys.ts';
import { shownSecret, type SignatureFormat } from '../../subgraphs/merchants/webhooks/rules.ts';
import { type Received, startReceiver } from './receiver.ts';
import { openHarness, type Harness, startTestRelay, startWorker, writeEvent } from './harness.ts';
import { type Case, notHere, programs } from './verifiers/programs.ts';

let harness: Harness;
let worker: Awaited<ReturnType<typeof startWorker>>;
let relay: Relay;
before(async () => {
  harness = await openHarness();
  worker = await startWorker(harness);
  relay = startTestRelay(harness, worker.wake);
});
after(async () => {
  await relay.stop();
  await worker.close();
  await harness.close();
});

interface Delivered {
  readonly secret: string;
  readonly body: string;
  readonly header: string;
  readonly headers: Received['headers'];
}

/**
 * Lets an endpoint of this format receive an event; gives what came. `before` sees the endpoint
 * before it does.
 */
const deliver = async (
  context: TestContext,
  format: SignatureFormat,
  before?: (endpointId: string) => Promise<unknown>,
): Promise<Delivered> => {
  const receiver = await startReceiver(context, (response) => response.end());
  const shop = await harness.addShop();
  const { id, secret } = await harness.addEndpoint(shop, receiver.url, [], format);
  await before?.(id);
  await writeEvent(harness.pool, shop);
  await receiver.until(1);
  const [came]: readonly (Received | undefined)[] = receiver.received;
  assert.ok(came);
  const { body, headers } = came;
  return { secret, body, headers, header: String(headers['x-psp-signature']) };
};

describe('a delivery is accepted by what others wrote', () => {
  test('of an endpoint marked stripe: by the stock stripe package, which refuses another body, another secret and an old one', async (context) => {
    const { secret, body, header } = await deliver(context, 'stripe');
    const { webhooks } = new Stripe('sk_test_nothing');
    const event: unknown = webhooks.constructEvent(body, header, secret);
    assert.deepEqual(event, JSON.parse(body));
    const later_ms = Date.now() + 400_000;
    assert.throws(() => webhooks.constructEvent(`${body} `, header, secret), /No signatures found/);
    assert.throws(
      () => webhooks.constructEvent(body, header, 'whs_another'),
      /No signatures found/,
    );
    assert.throws(
      () => webhooks.constructEvent(body, header, secret, 300, undefined, later_ms),
      /outside the tolerance/,
    );
  });

  test('of an endpoint marked standard: by the stock standardwebhooks package, which refuses another body, another secret and an old one', async (context) => {
    const { secret, body, headers } = await deliver(context, 'standard');
    const given = Object.fromEntries(Object.entries(headers).map(([k, v]) => [k, String(v)]));
    const webhook = new Webhook(shownSecret(secret).standardSecret);
    assert.deepEqual(webhook.verify(body, given), JSON.parse(body));
    assert.equal(given['webhook-id'], given['x-psp-event-id']);
    assert.equal(given['x-psp-signature'], undefined);
    assert.equal(given['x-psp-timestamp'], undefined);
    assert.throws(() => webhook.verify(`${body} `, given), /No matching signature found/);
    const another = new Webhook(shownSecret('whs_another').standardSecret);
    assert.throws(() => another.verify(body, given), /No matching signature found/);
    const old = String(Number(given['webhook-timestamp']) - 400);
    assert.throws(
      () => webhook.verify(body, { ...given, 'webhook-timestamp': old }),
      /Message timestamp too old/,
    );
  });

  test("of an endpoint marked legacy: by octokit's verifier, which refuses another body and another secret", async (context) => {
    const { secret, body, header } = await deliver(context, 'legacy');
    assert.equal(await verifyByOctokit(secret, body, header), true);
    assert.equal(await verifyByOctokit(secret, `${body} `, header), false);
    assert.equal(await verifyByOctokit('whs_another', body, header), false);
  });

  for (const format of ['v2', 'stripe', 'standard', 'legacy'] as const)
    test(`of an endpoint marked ${format}: by the SDK, which refuses another body, another secret and an old one`, async (context) => {
      const { secret, body, headers } = await deliver(context, format);
      const genuine = { body, headers, secret, format };
      assert.deepEqual(await verifyDelivery(genuine), JSON.parse(body));
      const web = new Headers(Object.entries(headers).map(([name, of]) => [name, String(of)]));
      assert.deepEqual(await verifyDelivery({ ...genuine, headers: web }), JSON.parse(body));
      if (format === 'standard') {
        const { standardSecret } = shownSecret(secret);
        assert.deepEqual(
          await verifyDelivery({ ...genuine, secret: standardSecret }),
          JSON.parse(body),
        );
      }
      const fakes: readonly Delivery[] = [
        { ...genuine, body: `${body} ` },
        { ...genuine, secret: 'whs_another' },
        { ...genuine, headers: {} },
        ...(format === 'legacy' ? [] : [{ ...genuine, now_s: Date.now() / 1_000 + 400 }]),
      ];
      for (const fake of fakes) await assert.rejects(verifyDelivery(fake), WebhookError);
      const noSecret = { ...genuine, secret: format === 'standard' ? 'whsec_####' : '' };
      await assert.rejects(verifyDelivery(noSecret), TypeError);
    });

  test('and what the SDK signs is what its verifier takes', async () => {
    const [body, secret] = ['{"id":"evt_1"}', 'whs_1'];
    const headers = { 'x-psp-signature': await signWebhook(body, secret) };
    assert.deepEqual(await verifyDelivery({ body, headers, secret }), { id: 'evt_1' });
  });
});

describe('the functions of the webhook page distinguish a genuine delivery from what was made out of it', () => {
  const makeCases = async (context: TestContext): Promise<readonly Case[]> => {
    const [v2, stripe, legacy] = await Promise.all(
      (['v2', 'stripe', 'legacy'] as const).map((format) => deliver(context, format)),
    );
    const old = { secret: 'whs_before_the_rotation' };
    const rotated = await deliver(context, 'v2', (id) =>
      harness.pool.query(
        `update webhook_endpoint set previous_secret_sealed = $2, previous_until = now() + interval '1 hour' where id = $1`,
        [id, seal(harness.vaultKey, old.secret)],
      ),
    );
    assert.ok(v2 && stripe && legacy);
    const now_s = Number(/^t=(\d+),/.exec(v2.header)?.[1]);
    const [, v1 = ''] = /v1=([0-9a-f]+)/.exec(v2.header) ?? [];
    const of = (
      is: string,
      genuine: boolean,
      { secret, body, header }: Delivered,
      changed: Partial<Case> = {},
    ): Case => {
      return {
        is,
        body: Buffer.from(body).toString('base64'),
        header,
        secret,
        legacy: header.startsWith('sha256='),
        now_s,
        genuine,
        ...changed,
      };
    };
    const otherBody = Buffer.from(
      v2.body.replace('"payment.succeeded"', '"payment.refunded"'),
    ).toString('base64');
    return [
      of('a v2 delivery', true, v2),
      of('one to an endpoint marked stripe', true, stripe),
      of('one with two secrets, by the new one', true, rotated),
      of('one with two secrets, by the old one', true, { ...rotated, ...old }),
      of('one with two secrets, by neither', false, { ...rotated, secret: v2.secret }),
      of('one with another body', false, v2, { body: otherBody }),
      of('one that is still fresh', true, v2, { now_s: now_s + 299 }),
      of('one that is too old', false, v2, { now_s: now_s + 302 }),
      of('one from the future', false, v2, { now_s: now_s - 302 }),
      of('one whose timestamp was renewed', false, v2, {
        header: v2.header.replace(/^t=\d+/, `t=${now_s + 1}`),
      }),
      of('one whose v2 was left out', false, v2, { header: v2.header.replace(/,v2=.*/, '') }),
      of('one whose v1 is called v2', false, v2, { header: `t=${now_s},v2=${v1}` }),
      of('one turned into the legacy format, which has no timestamp', false, v2, {
        header: `sha256=${v1}`,
        legacy: false,
      }),
      of('a legacy delivery', true, legacy),
      of('a legacy delivery with another body', false, legacy, { body: otherBody }),
      of('a legacy delivery with another secret', false, { ...legacy, secret: v2.secret }),
      ...[
        '',
        ',',
        '=',
        't=',
        't=x,v2=x',
        `t=${now_s}`,
        `t=${now_s},v2=`,
        `t=${now_s},v2=é`,
        `v2=${v1}`,
        'sha256=',
        'sha256=é',
      ].flatMap((header) => [
        of(`the header "${header}"`, false, v2, { header }),
        of(`the header "${header}" of a legacy endpoint`, false, v2, { header, legacy: true }),
      ]),
    ];
  };

  for (const { language, check } of programs) {
    test(`in ${language}`, async (context) => {
      if (notHere.length > 0)
        context.diagnostic(
          `not run, because their runtime is not on this machine: ${notHere.join(', ')}`,
        );
      const cases = await makeCases(context);
      const answered = await check(cases);
      assert.deepEqual(
        cases.map(({ is }, index) => `${is}: ${answered[index]}`),
        cases.map(({ is, genuine }) => `${is}: ${genuine}`),
      );
    });
  }
});

test('the guide shows each function as it was run here, in each language, and gives it as a file', async () => {
  const app = fastify();
  serveVerifiers(app, 'no-store');
  for (const language of guideLanguages) {
    const { main } = await readGuide(language, 'verify-webhooks');
    const shown = ['&lt; <', '&gt; >', '&quot; "', "&#39; '", '&amp; &'].reduce((text, pair) => {
      const [entity = '', character = ''] = pair.split(' ');
      return text.replaceAll(entity, character);
    }, main);
    for (const file of [
      'verify-webhook.ts',
      'verify_webhook.py',
      'verify-webhook.php',
      'verify_webhook.go',
    ]) {
      const source = readFileSync(
        new URL(`../../rest-facade/webhook-guide/${file}`, import.meta.url),
        'utf8',
      );
      assert.ok(shown.includes(source.trimEnd()), `${file} in ${language}`);
      assert.equal((await app.inject(`/docs/webhooks/${file}`)).body, source);
      assert.ok(main.includes(`href="/docs/webhooks/${file}"`), file);
    }
  }
});
