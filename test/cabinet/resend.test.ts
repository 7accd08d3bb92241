/** Deliveries in the cabinet, and their resend to a real receiver. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { deliveriesOf } from '../webhooks/record.ts';
import { eventually } from '../support/eventually.ts';
import { laterThan, startReceiver } from '../webhooks/receiver.ts';
import { Clock, writeEvent } from '../webhooks/harness.ts';
import {
  cabinetUser,
  keyOf,
  makeFixture,
  openDeliveringCabinet,
  writeFailed,
  type Cabinet,
} from './cabinet.ts';

const clock = new Clock();
let cabinet: Cabinet;
before(async () => void (cabinet = await openDeliveringCabinet(clock)));
after(() => cabinet.close());

const list = `query ($m: ID, $first: Int! = 50, $after: String, $shop: ID, $endpoint: ID, $status: DeliveryStatus, $event: WebhookEvent, $from: String, $to: String) {
  webhookDeliveries(merchantId: $m, first: $first, after: $after, shopId: $shop, endpointId: $endpoint, status: $status, event: $event, from: $from, to: $to) {
    nodes { id eventId status endpointId attempts attemptLog { number status error responseHead durationMs } } pageInfo { hasNextPage endCursor } } }`;
const resend = `mutation ($m: ID!, $id: ID!) { webhookDeliveryResend(merchantId: $m, id: $id) { ... on WebhookDelivery { id status nextAttemptAt } ... on Refused { code } } }`;
const resendFailed = `mutation ($m: ID!, $since: DateTime!) {
  webhookDeliveriesResendFailed(merchantId: $m, since: $since) { ... on WebhookDeliveriesResent { count hasMore } ... on Refused { code } } }`;

const statusOf = async (eventId: string): Promise<string | undefined> =>
  (await deliveriesOf(cabinet.harness, eventId))[0]?.status;

describe('a resend', () => {
  test('sends the same bytes and id again, with a fresh timestamp and signature, also of what was delivered', async (context) => {
    const receiver = await startReceiver(context, (response) => response.end('thanks'));
    const fixture = await makeFixture(cabinet, receiver.url);
    const { eventId, body } = await writeEvent(cabinet.harness.pool, { ...fixture, secret: '' });
    await eventually(
      async () => (await statusOf(eventId)) === 'delivered',
      () => 'not delivered',
    );
    const { webhookDeliveries } = await cabinet.ask(list, {
      m: fixture.merchantId,
      status: 'delivered',
    });
    const [delivery] = webhookDeliveries.nodes;
    await laterThan(receiver.received[0]);
    assert.equal(
      (await cabinet.ask(resend, { m: fixture.merchantId, id: delivery.id })).webhookDeliveryResend
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
    const after = await cabinet.ask(list, { m: fixture.merchantId, status: 'delivered' });
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
    const fixture = await makeFixture(cabinet, receiver.url);
    const { deliveryId, eventId } = await writeFailed(cabinet, fixture);
    const resentAt = Temporal.Now.instant();
    await cabinet.ask(resend, { m: fixture.merchantId, id: deliveryId });
    await eventually(
      async () =>
        (await deliveriesOf(cabinet.harness, eventId)).some(({ attempts }) => attempts === 10),
      () => 'no attempt',
    );
    const delivery = (await deliveriesOf(cabinet.harness, eventId)).find(
      ({ attempts }) => attempts === 10,
    );
    assert.equal(delivery?.status, 'pending');
    const since_s = Temporal.Now.instant().since(resentAt).total('seconds');
    const wait_s = delivery?.wait_s ?? 0;
    assert.ok(wait_s >= 10 && wait_s <= 11 + since_s, `waits ${wait_s} s`);
  });

  test('is refused when the endpoint is disabled, and when the delivery is another merchant’s', async () => {
    const [fixture, other] = [await makeFixture(cabinet), await makeFixture(cabinet)];
    await cabinet.ask(
      'mutation ($m: ID!, $id: ID!) { webhookEndpointDisable(merchantId: $m, id: $id) { __typename } }',
      {
        m: fixture.merchantId,
        id: fixture.endpointId,
      },
    );
    assert.equal(
      (await cabinet.ask(resend, { m: fixture.merchantId, id: fixture.deliveryId }))
        .webhookDeliveryResend.code,
      'not_found',
    );
    assert.equal(
      (await cabinet.ask(resend, { m: other.merchantId, id: fixture.deliveryId }))
        .webhookDeliveryResend.code,
      'not_found',
    );
    const since = '2026-01-01T00:00:00Z';
    assert.deepEqual(
      (await cabinet.ask(resendFailed, { m: fixture.merchantId, since }))
        .webhookDeliveriesResendFailed,
      { count: 0, hasMore: false },
    );
  });

  test('of all that failed since a moment takes thousands in batches, each once, and leaves older ones alone', async (context) => {
    const receiver = await startReceiver(context, (response) => response.end());
    const fixture = await makeFixture(cabinet, receiver.url);
    const { body } = await writeFailed(cabinet, fixture);
    // Each delivery is found with its event by the moment that both have.
    await cabinet.harness.pool.query(
      `insert into event (merchant_id, id, sequence, shop_id, mode, subject_id, webhook_event, webhook_body, created_at)
       select merchant_id, id, 0, shop_id, mode, subject_id, webhook_event, webhook_body, date_trunc('milliseconds', now()) - (n || ' minutes')::interval
       from event cross join generate_series(1, 2500) n where merchant_id = $1 and webhook_event is not null`,
      [fixture.merchantId],
    );
    await cabinet.harness.pool.query(
      `insert into webhook_delivery (merchant_id, id, event_id, webhook_event, shop_id, mode, subject_id, endpoint_id, lane, url, status, attempts, created_at)
       select d.merchant_id, gen_random_uuid(), d.event_id, d.webhook_event, d.shop_id, d.mode, d.subject_id, d.endpoint_id, d.lane || ':' || e.created_at, d.url, 'failed', 9,
         e.created_at
       from webhook_delivery d join event e on e.merchant_id = d.merchant_id and e.id = d.event_id and e.sequence = 0 where d.id = $1`,
      [fixture.deliveryId],
    );
    const since = Temporal.Now.instant()
      .subtract({ minutes: 2_400, seconds: 30 })
      .toString({ fractionalSecondDigits: 3 });
    const answer = (await cabinet.ask(resendFailed, { m: fixture.merchantId, since }))
      .webhookDeliveriesResendFailed;
    assert.deepEqual(answer, { count: 2_402, hasMore: false });
    const { rows } = await cabinet.harness.pool.query<{ status: string; count: number }>(
      `select status = 'failed' as status, count(*)::int from webhook_delivery where merchant_id = $1 group by 1 order by 1`,
      [fixture.merchantId],
    );
    assert.equal(rows.at(-1)?.count, 100);
    assert.ok(body.length > 0);
    const { auditLog } = await cabinet.ask(
      'query ($m: ID!) { auditLog(merchantId: $m, action: "webhook_deliveries.resend_failed") { nodes { after } } }',
      {
        m: fixture.merchantId,
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
    // Before anything is written: midnight may come meanwhile.
    const today = Temporal.Now.plainDateISO('UTC');
    const fixture = await makeFixture(cabinet);
    const m = fixture.merchantId;
    await cabinet.ask(
      'mutation ($m: ID!, $id: ID!) { webhookEndpointDisable(merchantId: $m, id: $id) { __typename } }',
      { m, id: fixture.endpointId },
    );
    for (let index = 0; index < 4; index += 1) await writeFailed(cabinet, fixture);
    const count = async (filter: object): Promise<number> =>
      (await cabinet.ask(list, { m, ...filter })).webhookDeliveries.nodes.length;
    const nobody = '9d7b2c44-3f0e-4d2f-8f35-0e6a3f5b7c11';
    assert.equal(await count({}), 5);
    assert.equal(
      await count({
        status: 'failed',
        event: 'payment_succeeded',
        shop: fixture.shopId,
        endpoint: fixture.endpointId,
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
      const { webhookDeliveries } = await cabinet.ask(list, { m, first: 2, after });
      for (const { id } of webhookDeliveries.nodes) seen.add(id);
      after = webhookDeliveries.pageInfo.endCursor;
      more = webhookDeliveries.pageInfo.hasNextPage;
    }
    assert.equal(seen.size, 5);
  });

  test("shows a cabinet user its own merchant's, and a key none", async () => {
    const [fixture, other] = [await makeFixture(cabinet), await makeFixture(cabinet)];
    const user = cabinetUser(fixture.merchantId, 'viewer');
    const { webhookDeliveries } = await cabinet.ask(list, {}, user);
    assert.deepEqual(
      webhookDeliveries.nodes.map(({ id }: any) => id),
      [fixture.deliveryId],
    );
    const codeOf = async (
      variables: object,
      principal: Parameters<Cabinet['run']>[2],
    ): Promise<unknown> =>
      (await cabinet.run(list, variables, principal)).errors?.[0]?.extensions['code'];
    assert.equal(await codeOf({ m: other.merchantId }, user), 'not_found');
    assert.equal(await codeOf({}, keyOf(fixture)), 'scope_required');
  });
});
