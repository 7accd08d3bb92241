/** Samples to endpoints, how endpoints fare, and what deliveries post. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createHmac } from 'node:crypto';
import { startReceiver } from '../webhooks/receiver.ts';
import { cabinetUser, makeFixture, openCabinet, writeFailed, type Cabinet } from './cabinet.ts';

let cabinet: Cabinet;
before(async () => void (cabinet = await openCabinet()));
after(() => cabinet.close());

const sample = `mutation ($m: ID!, $id: ID!) { webhookEndpointTest(merchantId: $m, id: $id) {
  __typename ... on Refused { code message }
  ... on WebhookEndpointTested { status error responseHead durationMs request { body signature headers { name value } } } } }`;

const testEndpoint = async (
  { merchantId, endpointId }: { merchantId: string; endpointId: string },
  principal = cabinetUser(merchantId, 'support'),
): Promise<any> =>
  (await cabinet.ask(sample, { m: merchantId, id: endpointId }, principal)).webhookEndpointTest;

describe('a sample', () => {
  test('is posted as events are, signed and marked, and gives what came back', async (context) => {
    const receiver = await startReceiver(context, (response) => {
      response.statusCode = 418;
      response.end('a teapot');
    });
    const fixture = await makeFixture(cabinet, receiver.url);
    const { secret } = (
      await cabinet.ask(
        `mutation ($m: ID!, $id: ID!) { webhookEndpointSecretRotate(merchantId: $m, id: $id) {
          ... on WebhookSecretRotated { secret } } }`,
        { m: fixture.merchantId, id: fixture.endpointId },
      )
    ).webhookEndpointSecretRotate;
    const tested = await testEndpoint(fixture);
    assert.deepEqual([tested.status, tested.error, tested.responseHead], [418, null, 'a teapot']);
    assert.ok(tested.durationMs >= 0);
    const [received] = receiver.received;
    assert.equal(receiver.received.length, 1);
    assert.equal(received?.body, tested.request.body);
    const body = JSON.parse(received?.body ?? '');
    assert.deepEqual([body.event, body.sample, body.data.sample], ['webhook.test', true, true]);
    const headers: Readonly<Record<string, unknown>> = received?.headers ?? {};
    assert.equal(headers['x-psp-sample'], 'true');
    assert.equal(headers['x-psp-event-id'], body.id);
    const signed = `${headers['x-psp-timestamp']}.${received?.body}`;
    const digest = createHmac('sha256', secret).update(signed).digest('hex');
    assert.ok(String(headers['x-psp-signature']).includes(`v2=${digest}`));
    const shown = Object.fromEntries(
      tested.request.headers.map(({ name, value }: any) => [name.toLowerCase(), value]),
    );
    for (const [name, value] of Object.entries(shown)) assert.equal(headers[name], value, name);
  });

  test('goes out five times a minute of a merchant, whatever comes at once; others are not held up', async (context) => {
    const receiver = await startReceiver(context, (response) => response.end());
    const [fixture, other] = await Promise.all([
      makeFixture(cabinet, receiver.url),
      makeFixture(cabinet, receiver.url),
    ]);
    const answers = await Promise.all(Array.from({ length: 12 }, () => testEndpoint(fixture)));
    assert.equal(answers.filter(({ status }) => status === 200).length, 5);
    assert.equal(answers.filter(({ code }) => code === 'bad_request').length, 7);
    assert.equal(receiver.received.length, 5);
    assert.equal((await testEndpoint(other)).status, 200);
    const stranger = cabinetUser(other.merchantId);
    assert.equal((await testEndpoint(fixture, stranger)).code, 'not_found');
    const viewer = cabinetUser(other.merchantId, 'viewer');
    const refused = await cabinet.run(
      sample,
      { m: other.merchantId, id: other.endpointId },
      viewer,
    );
    assert.match(JSON.stringify(refused.errors), /role support/);
  });

  test('without an answer says why', async () => {
    const fixture = await makeFixture(cabinet, 'http://127.0.0.1:1/');
    const { status, error } = await testEndpoint(fixture);
    assert.equal(status, null);
    assert.match(error, /ECONNREFUSED|connect/);
  });
});

describe('an endpoint', () => {
  test('shows what became of its newest deliveries and what is on its way', async () => {
    const fixture = await makeFixture(cabinet, 'http://127.0.0.1:1/');
    for (let count = 0; count < 3; count += 1) await writeFailed(cabinet, fixture);
    await cabinet.harness.pool.query(
      `update webhook_delivery set status = 'pending', next_attempt_at = '2030-01-01T00:00:00Z'
        where merchant_id = $1 and id = (select id from webhook_delivery where merchant_id = $1 limit 1)`,
      [fixture.merchantId],
    );
    const query = `query ($m: ID!) { merchant(id: $m) { shops { webhookEndpoints { id
      health { delivered failed pending failing oldestPendingAt nextAttemptAt } } } } }`;
    const { merchant } = await cabinet.ask(query, { m: fixture.merchantId });
    const [{ health }] = merchant.shops.flatMap(({ webhookEndpoints }: any) =>
      webhookEndpoints.filter(({ id }: any) => id === fixture.endpointId),
    );
    const { rows } = await cabinet.harness.pool.query(
      `select count(*) filter (where status = 'failed')::int as failed from webhook_delivery where merchant_id = $1`,
      [fixture.merchantId],
    );
    assert.equal(health.failed, rows[0].failed);
    assert.deepEqual([health.delivered, health.pending, health.failing], [0, 1, 1]);
    assert.equal(health.nextAttemptAt, '2030-01-01T00:00:00.000Z');
    assert.ok(health.oldestPendingAt);
  });

  test('sends again as many failed deliveries as a call may, and says that there are more', async () => {
    const fixture = await makeFixture(cabinet, 'http://127.0.0.1:1/');
    for (let count = 0; count < 4; count += 1) await writeFailed(cabinet, fixture);
    const again = `mutation ($m: ID!, $limit: Int!) { webhookDeliveriesResendFailed(merchantId: $m, since: "2020-01-01T00:00:00Z", limit: $limit) {
      ... on WebhookDeliveriesResent { count hasMore } ... on Refused { code } } }`;
    const send = async (limit: number): Promise<any> =>
      (await cabinet.ask(again, { m: fixture.merchantId, limit })).webhookDeliveriesResendFailed;
    assert.deepEqual(await send(3), { count: 3, hasMore: true });
    assert.deepEqual(await send(3), { count: 2, hasMore: false });
    assert.deepEqual(await send(0), { code: 'bad_request' });
  });
});

describe('a delivery', () => {
  test('shows the frozen bytes and the headers, and null when the event is gone', async () => {
    const fixture = await makeFixture(cabinet, 'http://127.0.0.1:1/');
    const { deliveryId, eventId, body } = await writeFailed(cabinet, fixture);
    const query = `query ($m: ID!) { webhookDeliveries(merchantId: $m, first: 50) { nodes { id
      request { body signature headers { name value } } } } }`;
    const requestOf = async (): Promise<any> => {
      const { webhookDeliveries } = await cabinet.ask(query, { m: fixture.merchantId });
      return webhookDeliveries.nodes.find(({ id }: any) => id === deliveryId).request;
    };
    const request = await requestOf();
    assert.equal(request.body, body);
    assert.equal(request.signature, 'v2');
    assert.deepEqual(
      request.headers.find(({ name }: any) => name === 'X-PSP-Event-Id'),
      { name: 'X-PSP-Event-Id', value: `evt_${eventId}` },
    );
    assert.doesNotMatch(JSON.stringify(request), /whs_/);
    await cabinet.harness.pool.query('delete from event where merchant_id = $1', [
      fixture.merchantId,
    ]);
    assert.equal(await requestOf(), null);
  });
});
