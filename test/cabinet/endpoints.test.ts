/**
 * Webhook endpoints as the cabinet changes them, seen by a real receiver: the real relay, queue and
 * worker deliver.
 */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, test, type TestContext } from 'node:test';
import { attemptsOf, deliveriesOf } from '../webhooks/record.ts';
import { eventually } from '../support/eventually.ts';
import { startReceiver, type Received, type Receiver } from '../webhooks/receiver.ts';
import { Clock, writeEvent } from '../webhooks/harness.ts';
import { makeFixture, openDeliveringCabinet, type Cabinet, type Fixture } from './cabinet.ts';

const clock = new Clock();
let cabinet: Cabinet;
before(async () => void (cabinet = await openDeliveringCabinet(clock)));
after(() => cabinet.close());

const hmac = (secret: string, text: string): string =>
  createHmac('sha256', secret).update(text).digest('hex');

/** The header's parts in their order. */
const partsOf = ({ headers }: Received): readonly (readonly string[])[] =>
  String(headers['x-psp-signature'])
    .split(',')
    .map((part) => part.split('='));

const valuesOf = (received: Received, name: string): readonly (string | undefined)[] =>
  partsOf(received).flatMap(([key, value]) => (key === name ? [value] : []));

const expected = (received: Received, secrets: readonly string[]): readonly string[] =>
  secrets.map((secret) =>
    hmac(secret, `${String(received.headers['x-psp-timestamp'])}.${received.body}`),
  );

interface Scene extends Fixture {
  readonly receiver: Receiver;
  readonly secret: string;
  /** Sends an event and gives what the receiver got. */
  send(): Promise<Received>;
}

/** A shop with one endpoint, at a real receiver. */
const scene = async (
  context: TestContext,
  answer: (before: number) => number = () => 200,
): Promise<Scene> => {
  const receiver = await startReceiver(context, (response, before) =>
    response.writeHead(answer(before)).end('head'),
  );
  const fixture = await makeFixture(cabinet, receiver.url);
  const ids = { m: fixture.merchantId, id: fixture.endpointId };
  const { webhookEndpointSecretRotate } = await cabinet.ask(
    'mutation ($m: ID!, $id: ID!) { webhookEndpointSecretRotate(merchantId: $m, id: $id) { ... on WebhookSecretRotated { secret } } }',
    ids,
  );
  const send = async (): Promise<Received> => {
    const { eventId } = await writeEvent(cabinet.harness.pool, { ...fixture, secret: '' });
    const find = (): Received | undefined =>
      receiver.received.findLast(({ headers }) => headers['x-psp-event-id'] === `evt_${eventId}`);
    await eventually(
      () => find() !== undefined,
      () => 'the event did not come',
    );
    return find() ?? assert.fail();
  };
  return { ...fixture, receiver, secret: webhookEndpointSecretRotate.secret, send };
};

const change = async (
  { merchantId: m, endpointId: id }: Fixture,
  mutation: string,
  given = '',
): Promise<any> => {
  const answer = await cabinet.ask(
    `mutation ($m: ID!, $id: ID!) { answer: ${mutation}(merchantId: $m, id: $id${given}) {
    __typename ... on Refused { code message } ... on WebhookSecretRotated { secret previousUntil }
    ... on WebhookEndpoint { url events signature active previousSecretUntil } ... on WebhookEndpointDeleted { deliveriesEnded } } }`.replace(
      / \.\.\. on (\w+) \{[^}]*\}/g,
      (fragment, type: string) => (mayBe(mutation, type) ? fragment : ''),
    ),
    { m, id },
  );
  return answer.answer;
};

const mayBe = (mutation: string, type: string): boolean =>
  type === 'Refused' ||
  type ===
    { Rotate: 'WebhookSecretRotated', Delete: 'WebhookEndpointDeleted' }[
      /Rotate|Delete/.exec(mutation)?.[0] ?? ''
    ] ||
  (type === 'WebhookEndpoint' && !/Rotate|Delete/.test(mutation));

describe('a rotation', () => {
  test('without an overlap stops the old secret at once', async (context) => {
    const harness = await scene(context);
    assert.deepEqual(
      valuesOf(await harness.send(), 'v2'),
      expected(harness.receiver.received.at(-1) ?? assert.fail(), [harness.secret]),
    );
    const rotated = await change(harness, 'webhookEndpointSecretRotate');
    assert.equal(rotated.previousUntil, null);
    assert.notEqual(rotated.secret, harness.secret);
    const received = await harness.send();
    assert.deepEqual(valuesOf(received, 'v2'), expected(received, [rotated.secret]));
    assert.equal(partsOf(received).length, 3);
  });

  test('with an overlap sends both signatures, the new one first, and the new one alone when it is over', async (context) => {
    const harness = await scene(context);
    const from = clock.now();
    const rotated = await change(harness, 'webhookEndpointSecretRotate', ', overlapHours: 2');
    const rotatedAt = Temporal.Instant.from(rotated.previousUntil).subtract({ hours: 2 });
    assert.ok(rotatedAt.epochMilliseconds >= from.epochMilliseconds);
    assert.ok(Temporal.Instant.compare(rotatedAt, clock.now()) <= 0);
    const both = await harness.send();
    assert.deepEqual(
      partsOf(both).map(([name]) => name),
      ['t', 'v1', 'v2', 'v1', 'v2'],
    );
    assert.deepEqual(valuesOf(both, 'v2'), expected(both, [rotated.secret, harness.secret]));
    assert.deepEqual(valuesOf(both, 'v1'), [
      hmac(rotated.secret, both.body),
      hmac(harness.secret, both.body),
    ]);
    clock.advance({ hours: 2, seconds: 1 });
    const alone = await harness.send();
    assert.deepEqual(valuesOf(alone, 'v2'), expected(alone, [rotated.secret]));
  });

  test('has an overlap of at most 24 hours, and none with the legacy signature', async (context) => {
    const harness = await scene(context);
    for (const hours of [25, -1])
      assert.equal(
        (await change(harness, 'webhookEndpointSecretRotate', `, overlapHours: ${hours}`)).code,
        'bad_request',
      );
    assert.equal(
      (await change(harness, 'webhookEndpointUpdate', ', signature: legacy')).signature,
      'legacy',
    );
    assert.equal(
      (await change(harness, 'webhookEndpointSecretRotate', ', overlapHours: 1')).code,
      'bad_request',
    );
    const rotated = await change(harness, 'webhookEndpointSecretRotate');
    const received = await harness.send();
    assert.equal(
      received.headers['x-psp-signature'],
      `sha256=${hmac(rotated.secret, received.body)}`,
    );
  });

  test("of the shop's own secret holds for payments with an address of their own, also with an overlap", async (context) => {
    const harness = await scene(context);
    await change(harness, 'webhookEndpointDelete');
    const rotate = async (hours: number): Promise<string> => {
      const { shopWebhookSecretRotate } = await cabinet.ask(
        'mutation ($m: ID!, $s: ID!, $h: Int!) { shopWebhookSecretRotate(merchantId: $m, shopId: $s, overlapHours: $h) { ... on WebhookSecretRotated { secret } } }',
        { m: harness.merchantId, s: harness.shopId, h: hours },
      );
      return shopWebhookSecretRotate.secret;
    };
    const [first, second] = [await rotate(0), await rotate(24)];
    const before = harness.receiver.received.length;
    await writeEvent(
      cabinet.harness.pool,
      { ...harness, secret: '' },
      { url: `${harness.receiver.url}/own` },
    );
    await harness.receiver.until(before + 1);
    const received = harness.receiver.received.at(-1) ?? assert.fail();
    assert.deepEqual(valuesOf(received, 'v2'), expected(received, [second, first]));
  });
});

describe('an endpoint', () => {
  test('that is deleted stops delivery: what is on its way ends as failed, with the reason', async (context) => {
    const harness = await scene(context, () => 500);
    const eventIds: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      const { eventId } = await writeEvent(cabinet.harness.pool, { ...harness, secret: '' });
      eventIds.push(eventId);
    }
    for (const eventId of eventIds)
      await eventually(
        async () => (await attemptsOf(cabinet.harness, eventId)).length === 1,
        () => 'no attempt',
      );
    const sent = harness.receiver.received.length;
    assert.equal((await change(harness, 'webhookEndpointDelete')).deliveriesEnded, 3);
    for (const eventId of eventIds) {
      const [delivery] = await deliveriesOf(cabinet.harness, eventId);
      assert.deepEqual(
        [delivery?.status, delivery?.attempts, delivery?.leased],
        ['failed', 2, false],
      );
      assert.equal(
        (await attemptsOf(cabinet.harness, eventId)).at(-1)?.error,
        'not sent: the endpoint is disabled or deleted',
      );
    }
    clock.advance({ hours: 1 });
    const { eventId } = await writeEvent(cabinet.harness.pool, { ...harness, secret: '' });
    const isRelayed = async (): Promise<boolean> =>
      (
        await cabinet.harness.pool.query(
          'select 1 from event where id = $1 and sequence is not null',
          [eventId],
        )
      ).rows.length === 1;
    await eventually(isRelayed, 'an event that was relayed');
    assert.deepEqual(await deliveriesOf(cabinet.harness, eventId), []);
    assert.equal(harness.receiver.received.length, sent);
    assert.equal((await change(harness, 'webhookEndpointEnable')).code, 'not_found');
  });

  test('that is disabled gets nothing until it is enabled; what failed meanwhile can be resent', async (context) => {
    const harness = await scene(context, (before) => (before === 0 ? 500 : 200));
    const { eventId } = await writeEvent(cabinet.harness.pool, { ...harness, secret: '' });
    await eventually(
      async () => (await attemptsOf(cabinet.harness, eventId)).length === 1,
      () => 'no attempt',
    );
    assert.equal((await change(harness, 'webhookEndpointDisable')).active, false);
    assert.equal((await deliveriesOf(cabinet.harness, eventId))[0]?.status, 'failed');
    assert.equal((await change(harness, 'webhookEndpointEnable')).active, true);
    const { webhookDeliveriesResendFailed: resent } = await cabinet.ask(
      'mutation ($m: ID!, $e: ID!) { webhookDeliveriesResendFailed(merchantId: $m, since: "2026-01-01T00:00:00Z", endpointId: $e) { ... on WebhookDeliveriesResent { count hasMore } } }',
      { m: harness.merchantId, e: harness.endpointId },
    );
    // The other one is the failed delivery that every merchant of these tests begins with.
    assert.deepEqual(resent, { count: 2, hasMore: false });
    await eventually(
      async () => (await deliveriesOf(cabinet.harness, eventId))[0]?.status === 'delivered',
      () => 'not delivered',
    );
  });

  test('that is given another address, filter and signature uses them for what is on its way', async (context) => {
    const harness = await scene(context, () => 500);
    const second = await startReceiver(context, (response) => response.end());
    await harness.send();
    const changed = await change(
      harness,
      'webhookEndpointUpdate',
      `, url: "${second.url}/new", events: [payment_succeeded, payment_succeeded], signature: stripe`,
    );
    assert.deepEqual(
      [changed.url, changed.events, changed.signature],
      [`${second.url}/new`, ['payment_succeeded'], 'stripe'],
    );
    clock.advance({ seconds: 15 });
    await second.until(1);
    const received = second.received[0] ?? assert.fail();
    assert.deepEqual(valuesOf(received, 'v1'), expected(received, [harness.secret]));
  });

  test('is one of at most twenty of its shop, and leads to an address that webhooks may have', async (context) => {
    const harness = await scene(context);
    const create = async (url: string): Promise<any> => {
      const { webhookEndpointCreate } = await cabinet.ask(
        'mutation ($m: ID!, $s: ID!, $url: String!) { webhookEndpointCreate(merchantId: $m, shopId: $s, url: $url) { __typename ... on Refused { code message } } }',
        { m: harness.merchantId, s: harness.shopId, url },
      );
      return webhookEndpointCreate;
    };
    assert.equal((await create('ftp://example.com')).code, 'bad_request');
    const answers = await Promise.all(
      Array.from({ length: 22 }, (_, index) => create(`https://example.com/${index}`)),
    );
    assert.equal(answers.filter(({ code }) => code === 'bad_request').length, 3);
  });
});
