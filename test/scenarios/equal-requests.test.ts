import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { callRest, eventually, makeMerchant, openStream, type Answer, type Merchant } from '../support/merchant.ts';
import { noRedis } from '../support/redis.ts';
import { startService, type Service } from '../support/service.ts';

const spread = 50;

describe('one Idempotency-Key over two facades and two payments subgraphs, on one database and Redis', { skip: noRedis }, () => {
  let service: Service;
  let merchant: Merchant;
  before(async () => {
    service = await startService('separate', {}, 2);
    merchant = await makeMerchant(service);
  });
  after(() => service.stop());

  /** Equal requests at the same moment, taking turns between the facades. */
  const fire = (path: string, body: unknown, key: string): Promise<Answer[]> =>
    Promise.all(
      Array.from({ length: spread }, (_, index) => {
        const rest = service.rests[index % service.rests.length] ?? service.rest;
        return callRest({ rest, key: merchant.key }, 'POST', path, body, { 'idempotency-key': key });
      }),
    );
  const statuses = (answers: readonly Answer[]): Record<string, number> =>
    Object.fromEntries(
      Map.groupBy(answers, ({ status }) => String(status))
        .entries()
        .map(([status, of]) => [status, of.length]),
    );

  test('fifty equal requests at once: one payment, forty-nine replays of it, one event', async () => {
    assert.equal(service.rests.length, 2);
    const stream = await openStream(service.rest, merchant.key);
    await eventually(() => stream.comments.includes(': connected'), 'the stream');
    const answers = await fire('/payments', { amount: 700, order_id: 'fifty' }, 'fifty');
    assert.deepEqual(statuses(answers), { 200: 49, 201: 1 });
    assert.equal(new Set(answers.map(({ body }) => body.payment.id)).size, 1);
    for (const { status, headers, body } of answers) {
      assert.deepEqual([body.idempotent, headers.get('idempotent-replayed')], status === 201 ? [false, null] : [true, 'true']);
    }
    const registry = await merchant.call('GET', '/payments');
    assert.equal(registry.body.items.length, 1);
    // A second payment after the fifty: its event comes after all of theirs.
    const last = await merchant.call('POST', '/payments', { amount: 701 });
    await eventually(() => stream.events.some(({ data }) => data.payload.id === last.body.payment.id), 'the event of the last payment');
    assert.deepEqual(
      stream.events.map(({ event, data }) => [event, data.payload.amount]),
      [
        ['payment.created', 700],
        ['payment.created', 701],
      ],
    );
    await stream.close();
  });

  test('a key that was answered 422, 400 or 404 is free for another call', async () => {
    const headers = { 'idempotency-key': 'free' };
    const refusals = [
      await merchant.call('POST', '/payouts', { amount: 100, phone: '+79990000000', bank_id: '100000000001' }, headers),
      await merchant.call('POST', '/payments', { amount: 0 }, headers),
      await merchant.call('POST', '/payments/8c5e0c9a-2f5d-4f67-9a51-3a9b1c7f6e11/refund', {}, headers),
    ];
    assert.ok(refusals.every(({ status }) => status >= 400));
    const created = await merchant.call('POST', '/payments', { amount: 100 }, headers);
    assert.deepEqual([created.status, created.body.idempotent], [201, false]);
  });

  test('the same key on another route is a conflict', async () => {
    const headers = { 'idempotency-key': 'one route' };
    const created = await merchant.call('POST', '/payments', { amount: 100 }, headers);
    const refund = await merchant.call('POST', `/payments/${created.body.payment.id}/refund`, { amount: 100 }, headers);
    assert.deepEqual([created.status, refund.status, refund.body.error.code], [201, 409, 'idempotent_conflict']);
  });
});
