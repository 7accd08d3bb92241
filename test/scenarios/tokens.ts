import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { lateAnswer_ms } from '../../subgraphs/rules/banks.ts';
import { confirmAtBank, payByCard, pay } from '../support/buyer.ts';
import {
  askGraph,
  makeMerchant,
  openReceiver,
  openStream,
  type Merchant,
} from '../support/merchant.ts';
import { operatorToken, type Service } from '../support/service.ts';
import { liveSubscription } from './subscription.ts';
import { eventually } from '../support/eventually.ts';

const read = `{ tokens(customerRef: "c-1") { status shop { id } bindingPayment { status amount refunds { amount status } } } }`;

/**
 * Saved methods, charges of them, and a subscription, on a service that is started before the tests
 * run.
 */
export const tokens = (started: () => Service): void =>
  void describe('tokens', { concurrency: false }, () => {
    let service: Service;
    let merchant: Merchant;
    before(async () => {
      service = started();
      merchant = await makeMerchant(service);
    });

    const tokenOf = async (customerRef: string) =>
      (await merchant.call('GET', `/tokens?customer_ref=${customerRef}`)).body.items[0];
    const untilActive = (customerRef: string) =>
      eventually(async () => {
        const token = await tokenOf(customerRef);
        return token.status === 'active' && token;
      }, 'the token');

    test('a card is saved and charged: answers, webhooks, stream, registry, ledger and the graph agree', async () => {
      const receiver = await openReceiver();
      await merchant.endpoint(receiver.url);
      const stream = await openStream(service.rest, merchant.key);
      await eventually(() => stream.comments.includes(': connected'), 'the stream');

      const body = {
        customer_ref: 'c-1',
        return_url: 'https://shop.example/cards?a=1',
        customer_email: 'buyer@example.com',
        amount: 0,
      };
      const created = await merchant.call('POST', '/tokens', body, { 'idempotency-key': 'bind' });
      assert.deepEqual(
        [created.status, created.body.card.status, created.body.card.method],
        [201, 'pending', 'cards'],
      );
      const replay = await merchant.call('POST', '/tokens', body, { 'idempotency-key': 'bind' });
      assert.deepEqual(
        [replay.status, replay.headers.get('idempotent-replayed'), replay.body],
        [200, 'true', created.body],
      );
      const { id } = created.body.card;
      const early = await merchant.call('POST', `/tokens/${id}/charge`, { amount: 1_000 });
      assert.deepEqual([early.status, early.body.error.code], [409, 'token_not_active']);

      const page = await (await fetch(`${created.body.pay_url}?lang=en`)).text();
      assert.match(page, /Save the card/);
      assert.match(page, /Tea &amp; Cakes saves the card/);
      await payByCard(created.body.pay_url);
      await confirmAtBank(created.body.pay_url);
      const active = await untilActive('c-1');
      assert.deepEqual(
        [
          active.id,
          active.card_brand,
          active.card_mask,
          active.card_holder,
          active.last_charged_at,
        ],
        [id, 'Visa', '1111', 'A B', null],
      );
      const bound = await receiver.until(({ body: { event } }) => event === 'payment.refunded');
      assert.deepEqual(
        [bound.body.data.amount, bound.body.data.metadata.token_id, bound.body.data.status],
        [100, id, 'refunded'],
      );
      assert.deepEqual((await merchant.call('GET', '/ledger')).body.items, []);

      const charge = () =>
        merchant.call(
          'POST',
          `/tokens/${id}/charge`,
          { amount: 49_900, order_id: 'A-1', description: 'May' },
          { 'idempotency-key': 'may' },
        );
      const charged = await Promise.all(Array.from({ length: 50 }, charge));
      assert.equal(new Set(charged.map((answer) => answer.body.id)).size, 1);
      assert.deepEqual(
        [
          charged.filter(({ status }) => status === 201).length,
          charged.filter(({ status }) => status === 200).length,
        ],
        [1, 49],
      );
      // A replay may come while the bank is asked: it shows the payment as it is then.
      const first = charged.find(({ status }) => status === 201)?.body;
      assert.ok(first.captured_at);
      assert.equal(
        (await tokenOf('c-1')).last_charged_at,
        first.captured_at,
        'the caller that has the answer finds the token charged',
      );
      const paid = await receiver.until(({ body: { data } }) => data.amount === 49_900);
      const { data } = paid.body;
      assert.deepEqual(
        [
          paid.body.event,
          data.method,
          data.order_id,
          data.description,
          data.customer_card_mask?.slice(-4),
        ],
        ['payment.succeeded', 'recurrent', 'A-1', 'May', '1111'],
      );
      const { payment_url: address, ...shown } = (
        await merchant.call('GET', `/payments/${data.id}`)
      ).body;
      assert.deepEqual(
        [data, address],
        [shown, null],
        'the webhook holds what GET answers, without its page',
      );
      await eventually(
        () =>
          stream.events.some(
            (event) =>
              event.event === 'payment.status_changed' && event.data.payload.id === data.id,
          ),
        'the stream',
      );

      const registry = (await merchant.call('GET', '/payments')).body.items;
      assert.deepEqual(
        registry.map((payment: any) => [payment.amount, payment.method, payment.status]),
        [
          [49_900, 'recurrent', 'succeeded'],
          [100, 'cards', 'refunded'],
        ],
      );
      assert.deepEqual(
        [
          (await merchant.call('GET', '/balance')).body.balance,
          (await merchant.call('GET', '/ledger')).body.items.length,
        ],
        [49_900, 1],
      );
      assert.deepEqual(await askGraph(service, read, {}, merchant.key), {
        tokens: [
          {
            status: 'active',
            shop: { id: merchant.shopId },
            bindingPayment: {
              status: 'refunded',
              amount: 100,
              refunds: [{ amount: 100, status: 'succeeded' }],
            },
          },
        ],
      });
      await stream.close();
      await receiver.close();
    });

    test('what the bank has not decided is pending in the answer, and decided later; a decline is a payment; SBP is bound by its first charge', async () => {
      const without = await merchant.call('POST', '/tokens', {
        customer_ref: 'c-2',
        method: 'sbp',
      });
      assert.deepEqual([without.status, without.body.error.code], [400, 'bad_request']);
      const sbp = await merchant.call('POST', '/tokens', {
        customer_ref: 'c-2',
        method: 'sbp',
        amount: 5_000,
      });
      await pay(sbp.body.pay_url);
      const { id } = await tokenOf('c-1');
      const began_ms = performance.now();
      const [late, declined] = await Promise.all(
        [1_007, 1_002].map((amount) => merchant.call('POST', `/tokens/${id}/charge`, { amount })),
      );
      // An answer that takes longer than the bank says what the bank has decided meanwhile.
      const isDecided = performance.now() - began_ms >= lateAnswer_ms;
      assert.deepEqual([late?.status, declined?.status], [201, 201]);
      assert.ok(late?.body.status === 'pending' || isDecided, late?.body.status);
      assert.equal(declined?.body.status, 'failed');
      assert.equal(declined?.body.metadata.failure_code, 'insufficient_funds');
      await eventually(
        async () =>
          (await merchant.call('GET', `/payments/${late?.body.id}`)).body.status === 'succeeded',
        'the late answer',
      );
      await untilActive('c-2');
    });

    test('a pending token is cancelled with its payment; nothing of tokens is for others', async () => {
      const tpay = await merchant.call('POST', '/tokens', {
        customer_ref: 'c-3',
        method: 'tpay',
        amount: 6_000,
      });
      for (const _ of [1, 2])
        assert.deepEqual(
          (await merchant.call('POST', `/tokens/${tpay.body.card.id}/cancel`)).body,
          { status: 'cancelled' },
        );
      const [payment] = (await merchant.call('GET', '/payments?status=cancelled')).body.items;
      assert.deepEqual([payment.amount, payment.status], [6_000, 'cancelled']);
      assert.equal((await tokenOf('c-3')).status, 'cancelled');

      const seen = await askGraph(
        service,
        'query ($m: ID!) { tokens(merchantId: $m) { customerRef status } }',
        { m: merchant.id },
      );
      assert.deepEqual(
        seen.tokens.map((token: any) => `${token.customerRef} ${token.status}`),
        ['c-3 cancelled', 'c-2 active', 'c-1 active'],
        'an operator sees them',
      );
      const stranger = await makeMerchant(service);
      for (const step of ['charge', 'cancel']) {
        const asked = await stranger.call(
          'POST',
          `/tokens/${(await tokenOf('c-2')).id}/${step}`,
          step === 'charge' ? { amount: 1 } : undefined,
        );
        assert.equal(asked.status, 404);
      }
      const internal =
        'mutation { recurringPaymentCancel(reference: { merchantId: "a", id: "b" }) { __typename } }';
      for (const bearer of [merchant.key, operatorToken])
        await assert.rejects(askGraph(service, internal, {}, bearer), /recurringPaymentCancel/);
    });

    test("a subscription is started, charged for a year of its shop's own time, paused, resumed and cancelled", () =>
      liveSubscription(service));
  });
