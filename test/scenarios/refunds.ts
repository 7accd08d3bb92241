import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { pay } from '../support/buyer.ts';
import {
  expectedSignature,
  makeMerchant,
  openReceiver,
  openStream,
  type Merchant,
} from '../support/merchant.ts';
import type { Service } from '../support/service.ts';
import { eventually } from '../support/eventually.ts';

/** Refunds, in parts and many at once, on a service that is started before the tests run. */
export const refunds = (started: () => Service): void =>
  void describe('refunds', { concurrency: false }, () => {
    let service: Service;
    let merchant: Merchant;
    before(async () => {
      service = started();
      merchant = await makeMerchant(service);
    });

    const paid = async (amount: number): Promise<string> => {
      const created = await merchant.call('POST', '/payments', { amount, method: 'sbp' });
      const { id } = created.body.payment;
      const early = await merchant.call('POST', `/payments/${id}/refund`);
      assert.deepEqual([early.status, early.body.error.code], [409, 'payment_not_succeeded']);
      await pay(created.body.payment_url);
      await eventually(
        async () => (await merchant.call('GET', `/payments/${id}`)).body.status === 'succeeded',
        'the payment',
      );
      return id;
    };

    test('a payment is refunded in parts: answers, webhooks, stream, registry, ledger and balance agree', async () => {
      const receiver = await openReceiver();
      const secret = await merchant.endpoint(receiver.url, ['payment_refunded']);
      const stream = await openStream(service.rest, merchant.key);
      await eventually(() => stream.comments.includes(': connected'), 'the stream');
      const id = await paid(10_000);

      const first = await merchant.call(
        'POST',
        `/payments/${id}/refund`,
        { amount: 4_000, reason: 'One ticket' },
        { 'idempotency-key': 'first' },
      );
      assert.deepEqual(
        [first.status, first.body.status, first.body.amount, first.body.reason],
        [201, 'succeeded', 4_000, 'One ticket'],
      );
      const replay = await merchant.call(
        'POST',
        `/payments/${id}/refund`,
        { reason: 'One ticket', amount: 4_000 },
        { 'idempotency-key': 'first' },
      );
      assert.deepEqual(
        [replay.status, replay.headers.get('idempotent-replayed'), replay.body],
        [200, 'true', first.body],
      );
      const webhook = await receiver.until(({ body }) => body.data.amount_refunded === 4_000);
      const timestamp = /^t=(\d+),/.exec(String(webhook.headers['x-psp-signature']))?.[1] ?? '';
      assert.equal(
        webhook.headers['x-psp-signature'],
        expectedSignature(secret, webhook.raw, timestamp),
      );
      assert.deepEqual(
        [webhook.body.event, webhook.body.data.status, webhook.body.data.refunds],
        ['payment.refunded', 'succeeded', [first.body]],
      );
      const { payment_url: address, ...shown } = (await merchant.call('GET', `/payments/${id}`))
        .body;
      assert.deepEqual(
        [webhook.body.data, address],
        [shown, null],
        'the webhook holds what GET answers, without its page',
      );

      const pending = await merchant.call('POST', `/payments/${id}/refund`, { amount: 107 });
      assert.deepEqual(
        [pending.status, pending.body.status, pending.body.completed_at],
        [201, 'pending', null],
      );
      const reserved = await merchant.call('GET', '/balance');
      assert.deepEqual([reserved.body.balance, reserved.body.available], [6_000, 5_893]);
      const tooMuch = await merchant.call('POST', `/payments/${id}/refund`, { amount: 5_894 });
      assert.deepEqual(
        [tooMuch.status, tooMuch.body.error.code],
        [422, 'amount_exceeds_remainder'],
      );
      await receiver.until(({ body }) => body.data.amount_refunded === 4_107);

      const failed = await merchant.call('POST', `/payments/${id}/refund`, { amount: 1_002 });
      assert.deepEqual(
        [failed.status, failed.body.status, failed.body.fail_reason],
        [201, 'failed', 'insufficient_funds'],
      );
      const rest = await merchant.call('POST', `/payments/${id}/refund`);
      assert.deepEqual([rest.status, rest.body.amount, rest.body.reason], [201, 5_893, null]);
      const last = await receiver.until(({ body }) => body.data.amount_refunded === 10_000);
      assert.equal(last.body.data.status, 'refunded');
      const more = await merchant.call('POST', `/payments/${id}/refund`, { amount: 1 });
      assert.deepEqual([more.status, more.body.error.code], [409, 'already_refunded']);
      assert.equal(receiver.received.length, 3, 'one webhook for each successful refund');

      const ledger = await merchant.call('GET', '/ledger');
      assert.deepEqual(
        ledger.body.items.map((entry: any) => [entry.type, entry.amount, entry.payment_id]),
        [
          ['refund', -5_893, id],
          ['refund', -107, id],
          ['refund', -4_000, id],
          ['payment', 10_000, id],
        ],
      );
      const csv = await merchant.call('GET', '/ledger?format=csv');
      assert.equal(String(csv.body).trimEnd().split('\r\n').length, 5, 'a header and four rows');
      const balance = await merchant.call('GET', '/balance');
      assert.deepEqual([balance.body.balance, balance.body.available], [0, 0]);
      const registry = await merchant.call('GET', '/refunds?status=succeeded');
      assert.deepEqual(
        registry.body.items.map(({ amount }: { amount: number }) => amount),
        [5_893, 107, 4_000],
      );

      const received = await eventually(() => {
        const of = stream.events.filter(
          ({ data }) => data.payload.payment_id === id || data.payload.id === id,
        );
        return of.some(({ data }) => data.payload.status === 'refunded') && of;
      }, 'the end on the stream');
      assert.deepEqual(
        received
          .filter(({ event }) => event === 'refund.created')
          .map(({ data }) => Object.keys(data.payload)),
        Array.from({ length: 4 }, () => ['id', 'amount', 'status', 'payment_id']),
      );
      await stream.close();
      await receiver.close();
    });

    test('fifty refunds at once never give back more than the payment, and each is answered with what it left', async () => {
      const receiver = await openReceiver();
      await merchant.endpoint(receiver.url, ['payment_refunded']);
      const id = await paid(10_000);
      const answers = await Promise.all(
        Array.from({ length: 50 }, () =>
          merchant.call('POST', `/payments/${id}/refund`, { amount: 300 }),
        ),
      );
      const codes = answers.map(
        ({ status, body }) => `${status} ${body.error?.code ?? body.status}`,
      );
      assert.deepEqual(
        Object.fromEntries(
          Map.groupBy(codes, (code) => code)
            .entries()
            .map(([code, all]) => [code, all.length]),
        ),
        {
          '201 succeeded': 33,
          '422 amount_exceeds_remainder': 17,
        },
      );
      const last = await merchant.call('POST', `/payments/${id}/refund`, { amount: 0 });
      assert.deepEqual([last.status, last.body.amount], [201, 100], 'zero is all that is left');
      const payment = (await merchant.call('GET', `/payments/${id}`)).body;
      assert.deepEqual(
        [payment.status, payment.amount_refunded, payment.refunds.length],
        ['refunded', 10_000, 34],
      );
      await eventually(() => receiver.received.length >= 34, 'thirty-four webhooks');
      const received = receiver.received
        .map(({ body: { data } }) => `${data.amount_refunded} ${data.status}`)
        .toSorted();
      const left = Array.from({ length: 33 }, (_, index) => `${300 * (index + 1)} succeeded`);
      assert.deepEqual(received, [...left, '10000 refunded'].toSorted());
      await receiver.close();
    });

    test('another merchant’s payment cannot be refunded', async () => {
      const id = await paid(500);
      const stranger = await makeMerchant(service);
      const refused = await stranger.call('POST', `/payments/${id}/refund`);
      assert.deepEqual([refused.status, refused.body.error.code], [404, 'not_found']);
    });
  });
