import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import {
  expectedSignature,
  makeMerchant,
  openReceiver,
  openStream,
  type Merchant,
} from '../support/merchant.ts';
import type { Service } from '../support/service.ts';
import { eventually } from '../support/eventually.ts';

/**
 * What a buyer's browser does on the hosted page, without the browser: the browser tests have one.
 */
const buyer = (paymentUrl: string) => {
  const post = async (step: string, body: unknown): Promise<any> => {
    const response = await fetch(`${paymentUrl}/${step}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: new URL(paymentUrl).origin },
      body: JSON.stringify(body),
    });
    const answer: any = await response.json();
    assert.equal(response.status, 200, JSON.stringify(answer));
    return answer;
  };
  return { choose: (method: string) => post('method', { method }), pay: () => post('pay', {}) };
};

const subscribe = (graph: string, key: string) => {
  const client = createClient({
    url: `${graph.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${key}` },
  });
  const seen: any[] = [];
  const query = `subscription { events { kind payload
    ... on PaymentCreatedEvent { payment { publicId amount shop { name merchant { name } } } }
    ... on PaymentStatusChangedEvent { payment { status net webhookDeliveries { event } } } } }`;
  client.subscribe(
    { query },
    {
      next: (message: any) => seen.push(message),
      error: (error) => seen.push({ error }),
      complete: () => {},
    },
  );
  return { seen, close: () => client.dispose() };
};

/**
 * One payment from its creation to its webhook, on a service that is started before the tests run.
 */
export const onePayment = (started: () => Service): void =>
  void describe('one payment, end to end', { concurrency: false }, () => {
    let service: Service;
    let merchant: Merchant;
    before(async () => {
      service = started();
      merchant = await makeMerchant(service);
    });

    test('it is created, paid on its page, booked, sent to the webhook, the stream and the graph, and read back', async () => {
      const receiver = await openReceiver();
      const secret = await merchant.endpoint(receiver.url);
      const stream = await openStream(service.rest, merchant.key);
      const live = subscribe(service.graph, merchant.key);
      await eventually(() => stream.comments.includes(': connected'), 'the stream');
      // A subscription has no message for having begun: once it receives one of these, it has.
      const receives = async (): Promise<boolean> => {
        await merchant.call('POST', '/payments', { amount: 1 });
        return live.seen.length > 0;
      };
      await eventually(receives, 'a live event');

      const created = await merchant.call(
        'POST',
        '/payments',
        { amount: 125_000, order_id: 'A-1', metadata: { cart: '7' } },
        { 'idempotency-key': 'first' },
      );
      assert.equal(created.status, 201, JSON.stringify(created.body));
      const { payment, payment_url } = created.body;
      assert.deepEqual(
        [created.body.mode, created.body.simulator, created.body.idempotent],
        ['test', 'succeeded', false],
      );
      assert.deepEqual(
        [payment.status, payment.method, payment.shop_name, 'fee' in payment],
        ['pending', 'any', 'Tea & Cakes', false],
      );
      assert.deepEqual(payment.metadata, {
        cart: '7',
        mode: 'test',
        simulator_outcome: 'succeeded',
      });

      const page = buyer(payment_url);
      await page.choose('sbp');
      // The page answers with what it did: a busy machine reads the payment again when the bank has
      // answered.
      assert.equal((await page.pay()).status, 'processing');

      const webhook = await receiver.until(({ body }) => body.data.id === payment.id);
      assert.equal(webhook.body.event, 'payment.succeeded');
      const timestamp = /^t=(\d+),/.exec(String(webhook.headers['x-psp-signature']))?.[1] ?? '';
      assert.equal(
        webhook.headers['x-psp-signature'],
        expectedSignature(secret, webhook.raw, timestamp),
      );
      assert.equal(webhook.headers['x-psp-event-id'], webhook.body.id);

      const paid = await merchant.call('GET', `/payments/${payment.id}`);
      const { payment_url: address, ...shown } = paid.body;
      assert.deepEqual(
        [webhook.body.data, address],
        [shown, null],
        'what GET answers, without its page',
      );
      assert.deepEqual([paid.body.status, paid.body.fee, paid.body.net], ['succeeded', 0, 125_000]);

      const ledger = await merchant.call('GET', '/ledger');
      assert.deepEqual(
        ledger.body.items.map((entry: any) => [entry.type, entry.amount, entry.payment_id]),
        [['payment', 125_000, payment.id]],
      );
      const balance = await merchant.call('GET', '/balance');
      assert.deepEqual(
        [balance.body.balance, balance.body.available, balance.body.shops.length],
        [125_000, 125_000, 1],
      );

      const streamed = () => stream.events.filter(({ data }) => data.payload.id === payment.id);
      const received = () =>
        live.seen.flatMap(({ data: { events } }) =>
          events.payload.id === payment.id ? [events.payment] : [],
        );
      await eventually(() => streamed().length >= 3 && received().length >= 3, 'the live events');
      assert.deepEqual(
        streamed().map(({ event, data }) => [event, data.payload.status]),
        [
          ['payment.created', 'pending'],
          ['payment.status_changed', 'processing'],
          ['payment.status_changed', 'succeeded'],
        ],
      );
      assert.deepEqual(received().at(0), {
        publicId: payment.public_id,
        amount: 125_000,
        shop: { name: 'Tea & Cakes', merchant: { name: 'Merchant' } },
      });
      assert.deepEqual(received().at(2), {
        status: 'succeeded',
        net: 125_000,
        webhookDeliveries: [{ event: 'payment_succeeded' }],
      });

      await live.close();
      await stream.close();
      await receiver.close();
    });

    test('a replay answers 200 with the payment as it is now', async () => {
      const body = { amount: 900, order_id: 'again' };
      const first = await merchant.call('POST', '/payments', body, { 'idempotency-key': 'again' });
      const replay = await merchant.call(
        'POST',
        '/payments',
        { order_id: 'again', amount: 900 },
        { 'idempotency-key': 'again' },
      );
      assert.deepEqual(
        [
          first.status,
          replay.status,
          replay.body.idempotent,
          replay.headers.get('idempotent-replayed'),
        ],
        [201, 200, true, 'true'],
      );
      assert.equal(replay.body.payment.id, first.body.payment.id);
      const conflict = await merchant.call(
        'POST',
        '/payments',
        { amount: 901 },
        { 'idempotency-key': 'again' },
      );
      assert.deepEqual([conflict.status, conflict.body.error.code], [409, 'idempotent_conflict']);
      const { created_at: at } = first.body.payment;
      const elsewhere = { 'idempotency-key': 'again' };
      const link = await merchant.call('POST', '/links', { amount: 900 }, elsewhere);
      for (const { body } of [conflict, link])
        assert.ok(body.error.message.endsWith(`: POST /v1/public/payments at ${at}`));
    });

    test('a planned failure fails with its code; cancelling is possible only while it is pending', async () => {
      const failing = await merchant.call('POST', '/payments', { amount: 1_002, method: 'tpay' });
      await buyer(failing.body.payment_url).pay();
      const failed = await eventually(async () => {
        const { body } = await merchant.call('GET', `/payments/${failing.body.payment.id}`);
        return body.status === 'failed' && body;
      }, 'the refusal');
      assert.deepEqual(
        [failed.metadata.failure_code, failed.metadata.bank_failure_code, 'fee' in failed],
        ['insufficient_funds', 'simulator:insufficient_funds', false],
      );
      const late = await merchant.call('POST', `/payments/${failed.id}/cancel`);
      assert.deepEqual([late.status, late.body.error.code], [409, 'not_pending']);
      const other = await merchant.call('POST', '/payments', { amount: 5 });
      const cancelled = await merchant.call('POST', `/payments/${other.body.payment.id}/cancel`);
      assert.deepEqual([cancelled.status, cancelled.body], [200, { status: 'cancelled' }]);
    });

    test('the registry gives every payment once over its pages, and another merchant sees none of it', async () => {
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const page: any = (
          await merchant.call('GET', `/payments?limit=2${cursor ? `&cursor=${cursor}` : ''}`)
        ).body;
        seen.push(...page.items.map(({ id }: { id: string }) => id));
        cursor = page.next_cursor;
      } while (cursor);
      assert.equal(new Set(seen).size, seen.length);
      assert.ok(seen.length >= 3);
      const stranger = await makeMerchant(service);
      assert.equal((await stranger.call('GET', `/payments/${seen[0]}`)).status, 404);
      assert.deepEqual((await stranger.call('GET', '/payments')).body, {
        items: [],
        next_cursor: null,
      });
    });
  });
