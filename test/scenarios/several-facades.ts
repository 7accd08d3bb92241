import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { issueKey, requireReceipts, revokeKey, send } from '../support/cabinet.ts';
import { pay } from '../support/buyer.ts';
import {
  askGraph,
  callRest,
  makeMerchant,
  openStream,
  type Answer,
  type Merchant,
} from '../support/merchant.ts';
import type { Service } from '../support/service.ts';
import { comesTo, eventually } from '../support/eventually.ts';

const spread = 50;

const equalRequests = (started: () => Service): void =>
  void describe(
    'one Idempotency-Key over two facades and two payments subgraphs, on one database and Redis',
    { concurrency: false },
    () => {
      let service: Service;
      let merchant: Merchant;
      before(async () => {
        service = started();
        merchant = await makeMerchant(service);
      });

      /** Equal requests at the same moment, taking turns between the facades. */
      const fire = (path: string, body: unknown, key: string): Promise<Answer[]> =>
        Promise.all(
          Array.from({ length: spread }, (_, index) => {
            const rest = service.rests[index % service.rests.length] ?? service.rest;
            return callRest({ rest, key: merchant.key }, 'POST', path, body, {
              'idempotency-key': key,
            });
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
          assert.deepEqual(
            [body.idempotent, headers.get('idempotent-replayed')],
            status === 201 ? [false, null] : [true, 'true'],
          );
        }
        const registry = await merchant.call('GET', '/payments');
        assert.equal(registry.body.items.length, 1);
        // A second payment after the fifty: its event comes after all of theirs.
        const last = await merchant.call('POST', '/payments', { amount: 701 });
        await eventually(
          () => stream.events.some(({ data }) => data.payload.id === last.body.payment.id),
          'the event of the last payment',
        );
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
          await merchant.call(
            'POST',
            '/payouts',
            { amount: 100, phone: '+79990000000', bank_id: '100000000001' },
            headers,
          ),
          await merchant.call('POST', '/payments', { amount: 0 }, headers),
          await merchant.call(
            'POST',
            '/payments/8c5e0c9a-2f5d-4f67-9a51-3a9b1c7f6e11/refund',
            {},
            headers,
          ),
        ];
        assert.ok(refusals.every(({ status }) => status >= 400));
        const created = await merchant.call('POST', '/payments', { amount: 100 }, headers);
        assert.deepEqual([created.status, created.body.idempotent], [201, false]);
      });

      test('the same key on another route is a conflict', async () => {
        const headers = { 'idempotency-key': 'one route' };
        const created = await merchant.call('POST', '/payments', { amount: 100 }, headers);
        const refund = await merchant.call(
          'POST',
          `/payments/${created.body.payment.id}/refund`,
          { amount: 100 },
          headers,
        );
        assert.deepEqual(
          [created.status, refund.status, refund.body.error.code],
          [201, 409, 'idempotent_conflict'],
        );
      });
    },
  );

const revokedEverywhere = (started: () => Service): void =>
  void test('a revoked key is refused within a second by every process, over REST and the graph', async () => {
    const service = started();
    const merchant = await makeMerchant(service);
    const key = await issueKey(service, merchant);
    const rest = async (at: string): Promise<number> =>
      (await send({ url: `${at}/v1/public/banks/sbp`, key: key.secret })).status;
    const graph = async (): Promise<number> =>
      (
        await send({
          url: `${service.graph}/graphql?query={__typename}`,
          key: key.secret,
          headers: { 'apollo-require-preflight': '1' },
        })
      ).status;
    const everywhere = (): Promise<number[]> => Promise.all([...service.rests.map(rest), graph()]);
    assert.deepEqual(await everywhere(), [200, 200, 200]);
    await revokeKey(service, merchant, key.id);
    await comesTo([401, 401, 401], everywhere);
  });

const receiptsEverywhere = (started: () => Service): void =>
  void test('a shop that demands receipts has them demanded within a second by every process', async () => {
    const service = started();
    const merchant = await makeMerchant(service);
    const create = async (rest: string): Promise<number> =>
      (await callRest({ rest, key: merchant.key }, 'POST', '/payments', { amount: 100 })).status;
    const everywhere = (): Promise<number[]> => Promise.all(service.rests.map(create));
    assert.deepEqual(await everywhere(), [201, 201]);
    await requireReceipts(service, merchant, true);
    await comesTo([400, 400], everywhere);
    await requireReceipts(service, merchant, false);
    await comesTo([201, 201], everywhere);
  });

const oneBurst = (started: () => Service): void =>
  void test('a merchant has one burst over two facades, exactly, when both are asked at the same time', async () => {
    const service = started();
    const burst = 60;
    const { key } = await makeMerchant(service, { perSecond: 1, burst });
    const began = performance.now();
    const ask = async (index: number): Promise<number> => {
      const response = await fetch(
        `${service.rests[index % service.rests.length]}/v1/public/balance`,
        { headers: { authorization: `Bearer ${key}` } },
      );
      await response.arrayBuffer();
      return response.status;
    };
    const statuses = await Promise.all(Array.from({ length: 3 * burst }, (_, index) => ask(index)));
    const gained = Math.ceil((performance.now() - began) / 1_000);
    const granted = statuses.filter((status) => status === 200).length;
    assert(granted >= burst && granted <= burst + gained, `${granted} were granted in ${gained} s`);
    assert.equal(statuses.filter((status) => status === 429).length, 3 * burst - granted);
  });

/** Calls to the simulated bank by operation, as the platform's operators read them. */
const callsToBank = async (service: Service): Promise<ReadonlyMap<string, number>> => {
  const { bankHealth } = await askGraph(
    service,
    '{ bankHealth(hours: 6) { rows { connector operation calls } } }',
  );
  const calls = new Map<string, number>();
  for (const { connector, operation, calls: more } of bankHealth.rows)
    if (connector === 'simulator') calls.set(operation, (calls.get(operation) ?? 0) + Number(more));
  return calls;
};

const healthEverywhere = (started: () => Service): void =>
  void test('calls to banks are counted wherever they are made, and read in another process', async () => {
    const service = started();
    const merchant = await makeMerchant(service);
    const earlier = await callsToBank(service);
    const { body } = await merchant.call('POST', '/payments', { amount: 500, method: 'sbp' });
    await pay(body.payment_url);
    const path = `/payments/${body.payment.id}`;
    await eventually(
      async () => (await merchant.call('GET', path)).body.status === 'succeeded',
      'the payment',
    );
    const refund = await merchant.call('POST', `${path}/refund`, { amount: 200 });
    assert.equal(refund.status, 201, JSON.stringify(refund.body));
    await eventually(async () => {
      const now = await callsToBank(service);
      return ['payment', 'refund'].every(
        (operation) => (now.get(operation) ?? 0) > (earlier.get(operation) ?? 0),
      );
    }, 'an order and a refund among the counts');
  });

/**
 * What two facades with a payments subgraph each must agree on: idempotency keys, revoked keys,
 * settings of shops, limits, the health of banks. The service is started before the tests run.
 */
export const severalFacades = (started: () => Service): void => {
  equalRequests(started);
  revokedEverywhere(started);
  receiptsEverywhere(started);
  oneBurst(started);
  healthEverywhere(started);
};
