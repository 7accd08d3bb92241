/** Closing receipts, receipts that are sent again, and what the page shows of them, over HTTP. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { vatRates } from '../../subgraphs/rules/receipt.ts';
import { pay } from '../support/buyer.ts';
import { askGraph, makeMerchant, type Merchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { itemOf, receiptOf } from '../support/receipts.ts';
import { advanceClock, setClock } from '../support/test-clock.ts';
import { eventually } from '../support/eventually.ts';

let service: ServiceInUse;
let merchant: Merchant;
before(async () => {
  service = await openPlainService();
  merchant = await makeMerchant(service);
});
after(() => service?.stop());

const prepaid = (amount: number, mode = 'full_prepayment') =>
  receiptOf(0, { items: [itemOf(amount, { payment_mode: mode })] });

const create = async (fields: object): Promise<{ id: string; url: string }> => {
  const { status, body } = await merchant.call('POST', '/payments', { method: 'sbp', ...fields });
  assert.equal(status, 201, JSON.stringify(body));
  return { id: body.payment.id, url: body.payment_url };
};

const paid = async (fields: object): Promise<string> => {
  const { id, url } = await create(fields);
  await pay(url);
  await eventually(
    async () => (await merchant.call('GET', `/payments/${id}`)).body.status === 'succeeded',
    `${id} succeeded`,
  );
  return id;
};

const close = async (id: string, body: object, headers: Record<string, string> = {}) => {
  const answer = await merchant.call('POST', `/payments/${id}/receipts`, body, headers);
  return { ...answer, code: answer.body.error?.code };
};

const receiptsOf = async (id: string): Promise<any[]> =>
  (await merchant.call('GET', `/receipts?payment_id=${id}`)).body.items.toReversed();

const ended = (id: string, count: number): Promise<any[]> =>
  eventually(async () => {
    const receipts = await receiptsOf(id);
    return receipts.filter(({ status }) => status !== 'pending').length === count && receipts;
  }, `${count} receipts of ${id}`);

// A receipt is registered seconds after the money: the tests wait at the same time.
describe('receipts', { concurrency: true }, () => {
  describe('a closing receipt', () => {
    test('follows a prepayment, once, of what was captured less what was refunded', async () => {
      const id = await paid({ amount: 1_000, receipt: prepaid(1_000) });
      const part = { amount: 300, receipt: receiptOf(300) };
      assert.equal((await merchant.call('POST', `/payments/${id}/refund`, part)).status, 201);
      const wrong = await close(id, receiptOf(1_000));
      assert.deepEqual([wrong.status, wrong.code], [400, 'bad_request']);
      const message = 'the items sum to 1000, but the amount is 700';
      const fields = [{ path: 'items', message }];
      assert.deepEqual(wrong.body.error, {
        code: 'bad_request',
        message: `items: ${message}`,
        fields,
      });
      assert.equal((await close(id, { items: [itemOf(700)] })).status, 400);
      const key = { 'idempotency-key': randomUUID() };
      const made = await close(id, receiptOf(700), key);
      assert.equal(made.status, 201, JSON.stringify(made.body));
      const { receipt } = made.body;
      assert.deepEqual(
        [receipt.type, receipt.status, receipt.amount, receipt.payment_id, receipt.refund_id],
        ['closing', 'pending', 700, id, null],
      );
      const again = await close(id, receiptOf(700), key);
      assert.deepEqual([again.status, again.body.receipt.id], [200, receipt.id]);
      assert.equal(again.headers.get('idempotent-replayed'), 'true');
      assert.equal((await close(id, receiptOf(701), key)).status, 409);
      const second = await close(id, receiptOf(700));
      assert.deepEqual([second.status, second.code], [409, 'receipt_not_expected']);
      assert.deepEqual(
        (await ended(id, 3)).map(({ type, status }) => `${type} ${status}`),
        ['payment registered', 'refund registered', 'closing registered'],
      );
    });

    test('is refused where nothing was paid in advance, or the money has not come', async () => {
      const plain = await paid({ amount: 1_000 });
      const whole = await paid({ amount: 1_000, receipt: prepaid(1_000, 'full_payment') });
      for (const id of [plain, whole]) {
        const { status, code } = await close(id, receiptOf(1_000));
        assert.deepEqual([status, code], [409, 'receipt_not_expected']);
      }
      const { id } = await create({ amount: 1_000, receipt: prepaid(1_000, 'prepayment') });
      const early = await close(id, receiptOf(1_000));
      assert.deepEqual([early.status, early.code], [409, 'payment_not_succeeded']);
      assert.equal((await close(randomUUID(), receiptOf(1_000))).status, 404);
      const other = await makeMerchant(service);
      const theirs = await other.call('POST', `/payments/${whole}/receipts`, receiptOf(1_000));
      assert.equal(theirs.status, 404);
    });
  });

  test('a receipt that failed has an alert, and a person of finance sends it again', async () => {
    const id = await paid({
      amount: 1_000,
      receipt: receiptOf(1_000),
      metadata: { simulator_receipt: 'failed' },
    });
    const [failed] = await ended(id, 1);
    assert.equal(failed.status, 'failed');
    const alerts = `query ($m: ID) { alerts(merchantId: $m, kind: receipt_failed) { nodes { subjectId detail } } }`;
    const raised = await askGraph(service, alerts, { m: merchant.id });
    assert.ok(raised.alerts.nodes.some(({ subjectId }: any) => subjectId === failed.id));
    const resend = (receiptId: string) =>
      askGraph(
        service,
        `mutation ($id: ID!, $m: ID) { receiptResend(id: $id, merchantId: $m) {
        ... on ReceiptResent { receipt { status payment { id } } } ... on Refused { code } } }`,
        { id: receiptId, m: merchant.id },
      ).then(({ receiptResend }) => receiptResend);
    assert.deepEqual(await resend(failed.id), { receipt: { status: 'pending', payment: { id } } });
    const [registered] = await eventually(async () => {
      const receipts = await receiptsOf(id);
      return receipts[0].status === 'registered' && receipts;
    }, 'it is registered');
    assert.deepEqual([registered.id, registered.failure_reason], [failed.id, null]);
    assert.deepEqual(await resend(failed.id), { code: 'receipt_not_expected' });
    assert.deepEqual(await resend(randomUUID()), { code: 'not_found' });
    const events = await eventually(async () => {
      const { items } = (await merchant.call('GET', `/event-log?subject_id=${failed.id}`)).body;
      return items.length === 2 && items;
    }, 'both events');
    assert.deepEqual(
      events.map(({ event }: any) => event),
      ['receipt.failed', 'receipt.registered'],
    );
  });

  test('the page of a paid payment says what became of its receipt, in both languages', async () => {
    const { id, url } = await create({ amount: 1_000, receipt: receiptOf(1_000) });
    await pay(url);
    await ended(id, 1);
    const pageIn = async (language: string): Promise<string> =>
      (await fetch(url, { headers: { 'accept-language': language } })).text();
    assert.match(await pageIn('en'), /Fiscal receipt<\/dt>\s*<dd>Registered/);
    assert.match(await pageIn('ru'), /Кассовый чек<\/dt>\s*<dd>Зарегистрирован/);
    const { url: waiting } = await create({
      amount: 1_000,
      receipt: receiptOf(1_000),
      metadata: { simulator_receipt: 'pending' },
    });
    await pay(waiting);
    await eventually(
      async () =>
        /Being registered/.test(
          await (await fetch(waiting, { headers: { 'accept-language': 'en' } })).text(),
        ),
      'the page shows it',
    );
  });

  test('receipts follow the test clock of their shop', async () => {
    const lone = await makeMerchant(service);
    await setClock(service, lone, 'Create', ', at: "2027-01-31T09:00:00Z"');
    const body = { amount: 1_000, method: 'sbp', receipt: receiptOf(1_000) };
    const made = (await lone.call('POST', '/payments', body)).body;
    await pay(made.payment_url);
    await advanceClock(service, lone, '2027-01-31T09:01:00.000Z');
    const [receipt] = await eventually(async () => {
      const { items } = (await lone.call('GET', '/receipts')).body;
      return items[0]?.status === 'registered' && items;
    }, 'it is registered');
    const { captured_at } = (await lone.call('GET', `/payments/${made.payment.id}`)).body;
    assert.match(captured_at, /^2027-01-31T09:00/);
    assert.equal(receipt.created_at, captured_at);
    assert.equal(Date.parse(receipt.registered_at) - Date.parse(captured_at), 2_000);
  });

  test('the guide shows the codes of VAT, with their days', () => {
    const file = new URL('../../rest-facade/guides/en/details.md', import.meta.url);
    const notes = readFileSync(file, 'utf8');
    const [, table = ''] = /\| `vat_code` [^\n]*\n\|---[^\n]*\n([^]*)$/.exec(notes) ?? [];
    const listed = table
      .trim()
      .split('\n')
      .flatMap((line) => {
        const [codes = '', rates = '', days = ''] = line.split('|').slice(1, 4);
        const [from = null, until = null] = days.match(/\d{4}-\d\d-\d\d/g) ?? [];
        const names = rates.split(',').map((rate) => rate.trim());
        return codes
          .split(',')
          .map((code, place) => ({ code: Number(code), rate: names[place], from, until }));
      });
    assert.deepEqual(
      listed.toSorted((a, b) => a.code - b.code),
      vatRates,
    );
  });
});
