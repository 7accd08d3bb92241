/** Payouts as merchants have them, from call to webhook; and no trace of a card’s number. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import {
  askGraph,
  expectedSignature,
  makeMerchant,
  openReceiver,
  openStream,
  type Merchant,
} from '../support/merchant.ts';
import type { Service } from '../support/service.ts';
import { lookEverywhere } from './leaks.ts';
import type { Watched } from './start-watched.ts';
import { eventually } from '../support/eventually.ts';

const cardNumber = ['2200', '0000', '0000', '0004'].join('');
const sbp = { phone: '+79161234567', bank_id: '100000000111' };
const card = { method: 'payouts_card', card_pan: cardNumber };
const account = {
  method: 'payouts_account',
  account_number: '40702810900000000001',
  bik: '044525225',
  inn: '7707083893',
  full_name: 'OOO Romashka',
};

/** Money for a merchant, as the operator records it. */
const fund = async (service: Service, { id, shopId }: Merchant, amount: number): Promise<void> => {
  const mutation = `mutation ($m: ID!, $s: ID!, $a: SignedMinorUnits!) { adjustmentRecord(merchantId: $m, shopId: $s, mode: test, amount: $a,
    reason: "money for payouts", reference: "fund-1") { ... on Refused { code message } } }`;
  const { adjustmentRecord } = await askGraph(service, mutation, { m: id, s: shopId, a: amount });
  assert.equal(adjustmentRecord.code, undefined, JSON.stringify(adjustmentRecord));
};

/** The facts about payouts, on the service that `started` gives. */
export const payouts = (started: () => Watched): void =>
  void describe('payouts', { concurrency: false }, () => {
    let service: Watched;
    let merchant: Merchant;
    before(async () => {
      service = started();
      merchant = await makeMerchant(service);
      await fund(service, merchant, 1_000_000);
    });

    const final = (id: string): Promise<any> =>
      eventually(async () => {
        const { body } = await merchant.call('GET', `/payouts/${id}`);
        return body.status !== 'pending' && body;
      }, `the end of ${id}`);

    test('a payout is made, sent by a worker, booked, sent to the webhook and the stream, and read back', async () => {
      const receiver = await openReceiver();
      const secret = await merchant.endpoint(receiver.url, ['payout_succeeded', 'payout_failed']);
      const stream = await openStream(service.rest, merchant.key);
      await eventually(() => stream.comments.includes(': connected'), 'the stream');
      const body = { amount: 10_000, ...sbp, full_name: 'Ivan Petrov' };
      const created = await merchant.call('POST', '/payouts', body, {
        'idempotency-key': 'first',
      });
      assert.equal(created.status, 201, JSON.stringify(created.body));
      const { payout, ...beside } = created.body;
      assert.deepEqual(beside, {
        mode: 'test',
        idempotent: false,
        simulator: 'succeeded',
        bank: 'Simulator',
        bank_ref: null,
        failure_reason: null,
      });
      assert.deepEqual(
        [payout.status, payout.recipient, payout.recipient_card_mask],
        ['pending', { ...sbp, full_name: 'Ivan Petrov' }, null],
      );

      const webhook = await receiver.until((received) => received.body.data.id === payout.id);
      const timestamp = /^t=(\d+),/.exec(String(webhook.headers['x-psp-signature']))?.[1] ?? '';
      assert.equal(
        webhook.headers['x-psp-signature'],
        expectedSignature(secret, webhook.raw, timestamp),
      );
      const read = await merchant.call('GET', `/payouts/${payout.id}`);
      assert.deepEqual(
        [webhook.body.event, webhook.body.data],
        ['payout.succeeded', read.body],
        'the webhook holds what GET answers',
      );
      assert.deepEqual(
        [read.body.status, read.body.bank_ref, read.body.fail_reason],
        ['succeeded', `sim_${payout.id}`, ''],
      );
      const replay = await merchant.call('POST', '/payouts', body, {
        'idempotency-key': 'first',
      });
      assert.deepEqual(
        [replay.status, replay.body.idempotent, replay.body.payout],
        [200, true, read.body],
      );
      assert.equal(
        (
          await merchant.call(
            'POST',
            '/payouts',
            { ...body, amount: 1 },
            { 'idempotency-key': 'first' },
          )
        ).body.error.code,
        'idempotent_conflict',
      );

      const failing = await merchant.call('POST', '/payouts', { amount: 1_002, ...account });
      const failed = await final(failing.body.payout.id);
      assert.deepEqual(
        [failed.fail_reason, failed.recipient],
        [
          'insufficient_funds',
          {
            account_number: account.account_number,
            bik: account.bik,
            inn: account.inn,
            full_name: account.full_name,
          },
        ],
      );
      assert.deepEqual(
        (await receiver.until((received) => received.body.event === 'payout.failed')).body.data,
        failed,
      );
      const { balance, available } = (await merchant.call('GET', '/balance')).body;
      assert.deepEqual([balance, available], [990_000, 990_000]);
      const ledger = (await merchant.call('GET', '/ledger')).body.items;
      const movements = ledger.map((entry: any) => [
        entry.type,
        entry.amount,
        entry.payout_id,
        entry.description,
      ]);
      assert.deepEqual(movements.slice(0, -1), [
        ['payout', -10_000, payout.id, `SBP *${sbp.phone.slice(-4)}`],
      ]);
      await eventually(
        () => stream.events.filter(({ event }) => event === 'payout.status_changed').length >= 2,
        'the stream',
      );
      assert.deepEqual(
        stream.events
          .filter(({ data }) => data.payload.id === payout.id)
          .map(({ event, data }) => [event, data.payload]),
        [
          ['payout.created', { id: payout.id, amount: 10_000, status: 'pending' }],
          ['payout.status_changed', { id: payout.id, status: 'succeeded' }],
        ],
      );
      await stream.close();
      await receiver.close();
    });

    test('what the bank refuses at once is created and failed; what cannot be routed is 502, and its replay says the failed payout', async () => {
      const absent = await merchant.call('POST', '/payouts', {
        amount: 500,
        ...sbp,
        phone: '+79000000001',
      });
      assert.deepEqual(
        [absent.status, absent.body.failure_reason, absent.body.payout.status],
        [201, 'recipient_not_in_sbp', 'failed'],
      );
      const lost = await merchant.call(
        'POST',
        '/payouts',
        { amount: 500, ...sbp, bank_id: '000000000000' },
        { 'idempotency-key': 'lost' },
      );
      assert.deepEqual([lost.status, lost.body.error.code], [502, 'router_error']);
      const replay = await merchant.call(
        'POST',
        '/payouts',
        { amount: 500, ...sbp, bank_id: '000000000000' },
        { 'idempotency-key': 'lost' },
      );
      assert.deepEqual([replay.status, replay.body.payout.fail_reason], [200, 'bank_unknown']);
      const tooMuch = await merchant.call('POST', '/payouts', { amount: 990_001, ...sbp });
      assert.deepEqual([tooMuch.status, tooMuch.body.error.code], [422, 'insufficient_balance']);
      assert.equal(
        (await merchant.call('POST', '/payouts', { amount: 5, ...sbp, bank_id: '999999999999' }))
          .status,
        201,
        'the directory is no allow-list',
      );
    });

    test('a batch is answered item by item; the registry is filtered by method and status', async () => {
      const items = [
        { amount: 100, method: 'payouts_sbp', ...sbp },
        { amount: 100 },
        { amount: 100, ...sbp, phone: '+79000000001' },
        sbp,
        { amount: -5, ...sbp },
      ];
      const first = await merchant.call(
        'POST',
        '/payouts/batch',
        { method: 'payouts_sbp', items },
        { 'idempotency-key': 'batch' },
      );
      assert.deepEqual(
        [first.status, first.body.created, first.body.failed, first.body.total, first.body.mode],
        [201, 1, 4, 5, 'test'],
      );
      assert.deepEqual(
        first.body.results.map(({ status, code }: any) => [status, code]),
        [
          ['created', null],
          ['failed', 'bad_request'],
          ['failed', 'recipient_not_in_sbp'],
          ['failed', 'bad_request'],
          ['failed', 'bad_request'],
        ],
      );
      const again = await merchant.call(
        'POST',
        '/payouts/batch',
        { method: 'payouts_sbp', items },
        { 'idempotency-key': 'batch' },
      );
      assert.deepEqual(
        [
          again.status,
          again.body.created,
          again.body.results[0].status,
          again.headers.get('idempotent-replayed'),
        ],
        [200, 0, 'duplicate', 'true'],
      );
      await final(first.body.results[0].payout_id);
      const many = await merchant.call('POST', '/payouts/batch', {
        method: 'payouts_sbp',
        items: Array.from({ length: 1_000 }, () => ({ amount: 10, ...sbp })),
      });
      assert.deepEqual([many.status, many.body.created], [201, 1_000]);
      const accounts = (
        await merchant.call('GET', '/payouts?method=payouts_account&status=failed,pending')
      ).body.items;
      assert.deepEqual(
        accounts.map(({ method, status }: any) => [method, status]),
        [['payouts_account', 'failed']],
      );
      const stranger = await makeMerchant(service);
      assert.equal((await stranger.call('GET', `/payouts/${accounts[0].id}`)).status, 404);
      assert.deepEqual((await stranger.call('GET', '/payouts')).body.items, []);
    });

    test('a card’s number is in no log, no table, no queue and no metric, whatever was done with it', async () => {
      const paid = await merchant.call(
        'POST',
        '/payouts',
        { amount: 2_000, ...card },
        { 'idempotency-key': 'card' },
      );
      assert.deepEqual(
        [
          paid.status,
          paid.body.payout.status,
          paid.body.payout.recipient,
          paid.body.payout.recipient_card_mask,
        ],
        [201, 'succeeded', {}, '0004'],
      );
      assert.equal(paid.body.bank_ref, `sim_${paid.body.payout.id}`);
      const refused = await merchant.call('POST', '/payouts', { amount: 2_001, ...card });
      assert.deepEqual([refused.status, refused.body.failure_reason], [201, 'do_not_honor']);
      assert.equal(
        (
          await merchant.call(
            'POST',
            '/payouts',
            { amount: 2_000, ...card },
            { 'idempotency-key': 'card' },
          )
        ).status,
        200,
      );
      const block = `mutation ($v: String!) { blockEntryAdd(kind: card, value: $v, reason: "stolen") { ... on Refused { code message } } }`;
      const batch = await merchant.call(
        'POST',
        '/payouts/batch',
        {
          method: 'payouts_card',
          items: [
            { amount: 1, card_pan: cardNumber },
            { amount: 1, card_pan: `${cardNumber}0` },
          ],
        },
        { 'idempotency-key': 'cards' },
      );
      assert.deepEqual([batch.body.created, batch.body.failed], [1, 1]);
      const wrong: readonly object[] = [
        { amount: 1, method: 'payouts_card', card_pan: Number(cardNumber) },
        { amount: 1, method: 'payouts_card', card_pan: [cardNumber] },
        { amount: 1, phone: cardNumber, bank_id: cardNumber },
        { amount: 1, method: cardNumber },
        { amount: 1, [cardNumber]: 1 },
        { amount: 1, ...card, full_name: '' },
        { amount: 2_000, ...card, card_pan: cardNumber.replace(/4$/, '5') },
      ];
      const answers = [];
      for (const body of wrong) answers.push(await merchant.call('POST', '/payouts', body));
      answers.push(
        await merchant.call(
          'POST',
          '/payouts',
          { amount: 3, ...card },
          { 'idempotency-key': 'card' },
        ),
      );
      for (const input of [
        { amount: 1, method: 'payouts_card', cardPan: Number(cardNumber) },
        { amount: 1, method: 'payouts_card', cardPan: cardNumber, inn: cardNumber },
      ]) {
        const mutation =
          'mutation ($i: PayoutCreateInput!) { payoutCreate(input: $i) { __typename ... on Refused { code message } } }';
        await askGraph(service, mutation, { i: input }, merchant.key).catch(() => null);
      }
      await askGraph(service, block, { v: cardNumber });
      const barred = await eventually(async () => {
        const answer = await merchant.call('POST', '/payouts', { amount: 1, ...card });
        return answer.status === 403 && answer;
      }, 'the block');
      answers.push(barred);
      assert.equal(barred.body.error.code, 'aml_blocked');
      assert.deepEqual(
        answers.map(({ status }) => status),
        [400, 400, 400, 400, 400, 400, 400, 409, 403],
      );
      assert.doesNotMatch(
        JSON.stringify(answers.map(({ body }) => body)),
        new RegExp(cardNumber.slice(0, 12)),
      );

      const places = await lookEverywhere(service);
      const looked = [...places].filter(([, text]) => text.length > 0).map(([place]) => place);
      assert.ok(
        looked.length >= 15 &&
          looked.includes('table public.payout') &&
          looked.includes('table public.idempotency_key'),
        looked.join(', '),
      );
      assert.ok(
        places.get('table public.payout')?.includes(paid.body.payout.id),
        'what is there is found',
      );
      if (service.onRedis)
        assert.ok(service.redisReceived().length > 10_000, 'Redis was overheard');
      assert.ok(
        [...places].some(
          ([place, text]) => place.startsWith('output of') && text.includes('"level"'),
        ),
        'the processes wrote logs',
      );
      // With anything between its digits that a mask or a format could put there.
      const number = new RegExp(Array.from(cardNumber).join('[ -]?'));
      assert.deepEqual(
        [...places].filter(([, text]) => number.test(text)).map(([place]) => place),
        [],
      );
    });
  });
