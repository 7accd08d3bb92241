/** Deliveries in the cabinet, and their resend to a real receiver. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { deliveriesOf } from '../webhooks/record.ts';
import { eventually, startReceiver } from '../webhooks/receiver.ts';
import { Clock, writeEvent } from '../webhooks/stage.ts';
import {
  cabinetUser,
  keyOf,
  makeWorld,
  openDeliveringDesk,
  writeFailed,
  type Desk,
} from './desk.ts';

const clock = new Clock();
let desk: Desk;
before(async () => void (desk = await openDeliveringDesk(clock)));
after(() => desk.close());

const list = `query ($m: ID, $first: Int! = 50, $after: String, $shop: ID, $endpoint: ID, $status: DeliveryStatus, $event: WebhookEvent, $from: String, $to: String) {
  webhookDeliveries(merchantId: $m, first: $first, after: $after, shopId: $shop, endpointId: $endpoint, status: $status, event: $event, from: $from, to: $to) {
    nodes { id eventId status endpointId attempts attemptLog { number status error responseHead durationMs } } pageInfo { hasNextPage endCursor } } }`;
const resend = `mutation ($m: ID!, $id: ID!) { webhookDeliveryResend(merchantId: $m, id: $id) { ... on WebhookDelivery { id status nextAttemptAt } ... on Refused { code } } }`;
const resendFailed = `mutation ($m: ID!, $since: DateTime!) {
  webhookDeliveriesResendFailed(merchantId: $m, since: $since) { ... on WebhookDeliveriesResent { count hasMore } ... on Refused { code } } }`;

const statusOf = async (eventId: string): Promise<string | undefined> =>
  (await deliveriesOf(desk.stage, eventId))[0]?.status;

describe('a resend', () => {
  test('sends the same bytes and id again, with a fresh timestamp and signature, also of what was delivered', async (context) => {
    const receiver = await startReceiver(context, (response) => response.end('thanks'));
    const world = await makeWorld(desk, receiver.url);
    const { eventId, body } = await writeEvent(desk.stage.pool, { ...world, secret: '' });
    await eventually(
      async () => (await statusOf(eventId)) === 'delivered',
      () => 'not delivered',
    );
    const { webhookDeliveries } = await desk.ask(list, {
      m: world.merchantId,
      status: 'delivered',
    });
    const [delivery] = webhookDeliveries.nodes;
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    assert.equal(
      (await desk.ask(resend, { m: world.merchantId, id: delivery.id })).webhookDeliveryResend
        .status,
      'pending',
    );
    await receiver.until(2);
    await eventually(
      async () => (await statusOf(eventId)) === 'delivered',
      () => 'not delivered again',
    );
    const [first, second] = receiver.received;
    assert.deepEqual([first?.body, second?.body], [body, body]);
    assert.equal(second?.headers['x-psp-event-id'], first?.headers['x-psp-event-id']);
    assert.ok(
      Number(second?.headers['x-psp-timestamp']) > Number(first?.headers['x-psp-timestamp']),
    );
    assert.notEqual(second?.headers['x-psp-signature'], first?.headers['x-psp-signature']);
    const after = await desk.ask(list, { m: world.merchantId, status: 'delivered' });
    assert.deepEqual(
      after.webhookDeliveries.nodes[0].attemptLog.map((attempt: any) => [
        attempt.number,
        attempt.status,
        attempt.responseHead,
      ]),
      [
        [1, 200, 'thanks'],
        [2, 200, 'thanks'],
      ],
    );
  });

  test('begins the schedule of retries anew after the last one was used up', async (context) => {
    const receiver = await startReceiver(context, (response) => response.writeHead(500).end());
    const world = await makeWorld(desk, receiver.url);
    const { deliveryId, eventId } = await writeFailed(desk, world);
    await desk.ask(resend, { m: world.merchantId, id: deliveryId });
    await eventually(
      async () => (await deliveriesOf(desk.stage, eventId)).some(({ attempts }) => attempts === 10),
      () => 'no attempt',
    );
    const delivery = (await deliveriesOf(desk.stage, eventId)).find(
      ({ attempts }) => attempts === 10,
    );
    assert.equal(delivery?.status, 'pending');
    assert.ok(
      (delivery?.wait_s ?? 0) >= 10 && (delivery?.wait_s ?? 0) <= 13,
      `waits ${delivery?.wait_s} s`,
    );
  });

  test('is refused when the endpoint is disabled, and when the delivery is another merchant’s', async () => {
    const [world, other] = [await makeWorld(desk), await makeWorld(desk)];
    await desk.ask(
      'mutation ($m: ID!, $id: ID!) { webhookEndpointDisable(merchantId: $m, id: $id) { __typename } }',
      {
        m: world.merchantId,
        id: world.endpointId,
      },
    );
    assert.equal(
      (await desk.ask(resend, { m: world.merchantId, id: world.deliveryId })).webhookDeliveryResend
        .code,
      'not_found',
    );
    assert.equal(
      (await desk.ask(resend, { m: other.merchantId, id: world.deliveryId })).webhookDeliveryResend
        .code,
      'not_found',
    );
    const since = '2026-01-01T00:00:00Z';
    assert.deepEqual(
      (await desk.ask(resendFailed, { m: world.merchantId, since })).webhookDeliveriesResendFailed,
      { count: 0, hasMore: false },
    );
  });

  test('of all that failed since a moment takes thousands in batches, each once, and leaves older ones alone', async (context) => {
    const receiver = await startReceiver(context, (response) => response.end());
    const world = await makeWorld(desk, receiver.url);
    const { body } = await writeFailed(desk, world);
    // Each delivery is found with its event by the moment that both have.
    await desk.stage.pool.query(
      `insert into event (merchant_id, id, sequence, shop_id, mode, subject_id, webhook_event, webhook_body, created_at)
       select merchant_id, id, 0, shop_id, mode, subject_id, webhook_event, webhook_body, date_trunc('milliseconds', now()) - (n || ' minutes')::interval
       from event cross join generate_series(1, 2500) n where merchant_id = $1 and webhook_event is not null`,
      [world.merchantId],
    );
    await desk.stage.pool.query(
      `insert into webhook_delivery (merchant_id, id, event_id, webhook_event, shop_id, subject_id, endpoint_id, lane, url, status, attempts, created_at)
       select d.merchant_id, gen_random_uuid(), d.event_id, d.webhook_event, d.shop_id, d.subject_id, d.endpoint_id, d.lane || ':' || e.created_at, d.url, 'failed', 9,
         e.created_at
       from webhook_delivery d join event e on e.merchant_id = d.merchant_id and e.id = d.event_id and e.sequence = 0 where d.id = $1`,
      [world.deliveryId],
    );
    const since = Temporal.Now.instant()
      .subtract({ minutes: 2_400, seconds: 30 })
      .toString({ fractionalSecondDigits: 3 });
    const answer = (await desk.ask(resendFailed, { m: world.merchantId, since }))
      .webhookDeliveriesResendFailed;
    assert.deepEqual(answer, { count: 2_402, hasMore: false });
    const { rows } = await desk.stage.pool.query<{ status: string; count: number }>(
      `select status = 'failed' as status, count(*)::int from webhook_delivery where merchant_id = $1 group by 1 order by 1`,
      [world.merchantId],
    );
    assert.equal(rows.at(-1)?.count, 100);
    assert.ok(body.length > 0);
    const { auditLog } = await desk.ask(
      'query ($m: ID!) { auditLog(merchantId: $m, action: "webhook_deliveries.resend_failed") { nodes { after } } }',
      {
        m: world.merchantId,
      },
    );
    assert.deepEqual(
      auditLog.nodes.map(({ after }: any) => after.resent),
      [402, 1_000, 1_000],
    );
  });
});

describe('the list of deliveries', () => {
  test('is filtered by shop, endpoint, status, event and day, and paged without repeats', async () => {
    const world = await makeWorld(desk);
    const m = world.merchantId;
    await desk.ask(
      'mutation ($m: ID!, $id: ID!) { webhookEndpointDisable(merchantId: $m, id: $id) { __typename } }',
      { m, id: world.endpointId },
    );
    for (let index = 0; index < 4; index += 1) await writeFailed(desk, world);
    const count = async (filter: object): Promise<number> =>
      (await desk.ask(list, { m, ...filter })).webhookDeliveries.nodes.length;
    const today = Temporal.Now.plainDateISO('UTC');
    const nobody = '9d7b2c44-3f0e-4d2f-8f35-0e6a3f5b7c11';
    assert.equal(await count({}), 5);
    assert.equal(
      await count({
        status: 'failed',
        event: 'payment_succeeded',
        shop: world.shopId,
        endpoint: world.endpointId,
        from: String(today),
      }),
      5,
    );
    for (const filter of [
      { status: 'pending' },
      { event: 'payout_failed' },
      { shop: nobody },
      { endpoint: nobody },
      { to: String(today.subtract({ days: 2 })) },
    ]) {
      assert.equal(await count(filter), 0, JSON.stringify(filter));
    }
    const seen = new Set<string>();
    for (let after: string | null = null, more = true; more;) {
      const { webhookDeliveries } = await desk.ask(list, { m, first: 2, after });
      for (const { id } of webhookDeliveries.nodes) seen.add(id);
      after = webhookDeliveries.pageInfo.endCursor;
      more = webhookDeliveries.pageInfo.hasNextPage;
    }
    assert.equal(seen.size, 5);
  });

  test("shows a cabinet user its own merchant's, and a key none", async () => {
    const [world, other] = [await makeWorld(desk), await makeWorld(desk)];
    const user = cabinetUser(world.merchantId, 'viewer');
    const { webhookDeliveries } = await desk.ask(list, {}, user);
    assert.deepEqual(
      webhookDeliveries.nodes.map(({ id }: any) => id),
      [world.deliveryId],
    );
    const codeOf = async (
      variables: object,
      principal: Parameters<Desk['run']>[2],
    ): Promise<unknown> =>
      (await desk.run(list, variables, principal)).errors?.[0]?.extensions['code'];
    assert.equal(await codeOf({ m: other.merchantId }, user), 'not_found');
    assert.equal(await codeOf({}, keyOf(world)), 'scope_required');
  });
});
