/** Receipts of 54-FZ over HTTP. Additions, section 2. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type pg from 'pg';
import { pay, payByCard } from '../support/buyer.ts';
import { askGraph, makeMerchant, openReceiver, type Merchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { itemOf, receiptOf } from '../support/receipts.ts';
import { openPool } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

let service: ServiceInUse;
let merchant: Merchant;
let pool: pg.Pool;
let receiver: Awaited<ReturnType<typeof openReceiver>>;
before(async () => {
  service = await openPlainService();
  merchant = await makeMerchant(service);
  pool = openPool(service.databaseUrl, 2);
  receiver = await openReceiver();
});
after(async () => {
  await receiver?.close();
  await pool?.end();
  await service?.stop();
});

const call = async (path: string, body: object, headers: Record<string, string> = {}) => {
  const answer = await merchant.call('POST', path, body, headers);
  return { ...answer, words: `${answer.body.error?.code}: ${answer.body.error?.message}` };
};

const create = async (amount: number, fields: object = {}) => {
  const body = { amount, method: 'sbp', receipt: receiptOf(amount), ...fields };
  const made = await call('/payments', body);
  assert.equal(made.status, 201, made.words);
  return { id: String(made.body.payment.id), url: String(made.body.payment_url) };
};

const until = (id: string, status: string): Promise<any> =>
  eventually(async () => {
    const { body } = await merchant.call('GET', `/payments/${id}`);
    return body.status === status && body;
  }, `${id} ${status}`);

const paid = async (amount: number, fields: object = {}): Promise<string> => {
  const { id, url } = await create(amount, fields);
  await pay(url);
  await until(id, 'succeeded');
  return id;
};

const held = async (amount: number): Promise<string> => {
  const { id, url } = await create(amount, { method: 'cards', capture: 'manual' });
  await payByCard(url);
  await until(id, 'authorized');
  return id;
};

const receiptsOf = async (paymentId: string): Promise<any[]> =>
  (await merchant.call('GET', `/receipts?payment_id=${paymentId}`)).body.items.toReversed();

/** The receipts of a payment once so many of them have come to an end. */
const ended = (paymentId: string, count = 1): Promise<any[]> =>
  eventually(async () => {
    const receipts = await receiptsOf(paymentId);
    const done = receipts.filter(({ status }) => status !== 'pending');
    return done.length === count && receipts;
  }, `${count} receipts of ${paymentId}`);

// A receipt is registered seconds after the money: the tests wait at the same time.
describe('receipts', { concurrency: true }, () => {
  describe('the receipt of a payment', () => {
    test('is made as the money comes and registered after two seconds; its customer is masked', async () => {
      await merchant.endpoint(receiver.url, ['receipt_registered']);
      const items = [
        itemOf(10_000, { quantity: '0.750', measure: 'kilogram', payment_subject: 'commodity' }),
        itemOf(2_500, { vat_code: 1, payment_mode: 'full_payment', mark_code: '0104' }),
        itemOf(0),
      ];
      const customer = {
        email: 'ivanov@example.com',
        phone: '+79161234567',
        full_name: 'Иван Петров',
        inn: '7707083893',
      };
      const { id, url } = await create(10_000, { receipt: { customer, tax_system: 2, items } });
      assert.deepEqual(await receiptsOf(id), []);
      await pay(url);
      const { captured_at } = await until(id, 'succeeded');
      assert.equal((await receiptsOf(id)).length, 1, 'it is there as soon as the money is');
      const [receipt] = await ended(id);
      const { id: receiptId, fiscal_storage_number, ...rest } = receipt;
      const { fiscal_document_number, fiscal_attribute, registered_at, ...plain } = rest;
      const absent = { payment_subject: null, payment_mode: null, measure: null, mark_code: null };
      assert.deepEqual(plain, {
        payment_id: id,
        refund_id: null,
        type: 'payment',
        status: 'registered',
        amount: 10_000,
        currency: 'RUB',
        customer: {
          email: 'i***@example.com',
          phone: '+7 *** ***-45-67',
          full_name: 'И*** П***',
          inn: '******3893',
        },
        tax_system: 2,
        items: items.map((item) => ({ ...absent, ...item })),
        failure_reason: null,
        created_at: captured_at,
      });
      for (const number of [fiscal_storage_number, fiscal_document_number, fiscal_attribute])
        assert.match(number, /^\d+$/);
      assert.equal(Date.parse(registered_at) - Date.parse(captured_at), 2_000);
      assert.deepEqual((await merchant.call('GET', `/receipts/${receiptId}`)).body, receipt);
      const webhook = await receiver.until(({ body }) => body.data.id === receiptId);
      assert.deepEqual([webhook.body.event, webhook.body.data], ['receipt.registered', receipt]);
      const log = await merchant.call('GET', `/event-log?subject_id=${receiptId}`);
      assert.deepEqual(log.body.items[0].data, receipt);
    });

    test('goes to the own address of its payment; the hint has it fail, or stay pending', async () => {
      const hook = await openReceiver();
      try {
        const failing = { webhook_url: hook.url, metadata: { simulator_receipt: 'failed' } };
        const id = await paid(1_000, failing);
        const [receipt] = await ended(id);
        assert.deepEqual([receipt.status, receipt.registered_at], ['failed', null]);
        assert.match(receipt.failure_reason, /refused the receipt/);
        const webhook = await hook.until(({ body }) => body.event === 'receipt.failed');
        assert.deepEqual(webhook.body.data, receipt);
      } finally {
        await hook.close();
      }
      const pending = await paid(1_000, { metadata: { simulator_receipt: 'pending' } });
      const row = await eventually(async () => {
        const found = await pool.query('select * from receipt where payment_id = $1', [pending]);
        return found.rows[0]?.ask_at === null && found.rows[0];
      }, 'the receipt was asked about');
      assert.equal(row.status, 'pending');
    });

    test('is refused with words about what is wrong, and nothing is created', async () => {
      const mine = await makeMerchant(service);
      const create = async (body: object) => {
        const { status, body: answer } = await mine.call('POST', '/payments', body);
        return { status, words: `${answer.error?.code}: ${answer.error?.message}` };
      };
      const item = (fields: object) => receiptOf(0, { items: [itemOf(1_000, fields)] });
      const [email, phone] = [{ email: 'a@b.ru' }, { phone: '+79161234567' }];
      for (const [receipt, words] of [
        [receiptOf(999), /receipt\.items: the items sum to 999, but the amount is 1000/],
        [item({ quantity: '0.9995' }), /items\[0\]\.quantity: expected a decimal number above 0/],
        [
          item({ quantity: '0' }),
          /items\[0\]\.quantity: expected a decimal number above 0.*, got "0"$/,
        ],
        [item({ quantity: 1 }), /items\[0\]\.quantity/],
        [item({ vat_code: 13 }), /items\[0\]\.vat_code: expected an integer from 1 to 12/],
        [item({ vat_code: 0 }), /items\[0\]\.vat_code: expected an integer from 1 to 12/],
        [item({ price: -1 }), /items\[0\]\.price: expected an integer from 0 to/],
        [item({ description: 'x'.repeat(129) }), /items\[0\]\.description: expected a string of 1/],
        [item({ payment_mode: 'later' }), /items\[0\]\.payment_mode: expected one of/],
        [item({ colour: 'red' }), /colour/],
        [receiptOf(1_000, { items: [] }), /receipt\.items: expected an array of 1 to 100/],
        [
          receiptOf(0, { items: Array.from({ length: 101 }, () => itemOf(0)) }),
          /receipt\.items: expected an array of 1 to 100/,
        ],
        [receiptOf(1_000, { customer: {} }), /receipt\.customer: expected email or phone/],
        [receiptOf(1_000, { customer: { full_name: 'A' } }), /expected email or phone/],
        [receiptOf(1_000, { customer: { email: 'ivanov' } }), /email: expected an e-mail address/],
        [receiptOf(1_000, { customer: { phone: '89161234567' } }), /phone: expected \+7/],
        [receiptOf(1_000, { customer: { ...email, inn: '123' } }), /inn: expected 10 or 12 digits/],
        [receiptOf(1_000, { tax_system: 7, customer: phone }), /tax_system: expected an integer/],
        [{ items: [itemOf(1_000)] }, /customer/],
      ] as const) {
        const refused = await create({ amount: 1_000, receipt });
        assert.equal(refused.status, 400, JSON.stringify(receipt));
        assert.match(refused.words, words);
        assert.match(refused.words, /^bad_request/);
        assert.doesNotMatch(refused.words, /ivanov|8916|a@b/);
      }
      assert.deepEqual((await mine.call('GET', '/payments')).body.items, []);
      const kopecks = receiptOf(0, { items: [itemOf(333, { quantity: '1.5' }), itemOf(1)] });
      assert.equal((await create({ amount: 501, receipt: kopecks })).status, 201);
    });

    test('is part of what an idempotency key stands for; nulls are absent', async () => {
      const key = { 'idempotency-key': randomUUID() };
      const body = { amount: 1_000, receipt: receiptOf(1_000, { tax_system: null }) };
      const made = await call('/payments', body, key);
      assert.equal(made.status, 201, made.words);
      const again = await call('/payments', body, key);
      assert.deepEqual([again.status, again.body.payment.id], [200, made.body.payment.id]);
      const other = { amount: 1_000, receipt: receiptOf(1_000, { tax_system: 1 }) };
      assert.equal((await call('/payments', other, key)).status, 409);
      const { rows } = await pool.query('select 1 from receipt_terms where subject_id = $1', [
        made.body.payment.id,
      ]);
      assert.equal(rows.length, 1);
    });

    test('is sealed at rest, in no log, and gone with an erasure', async () => {
      const email = `${randomUUID()}@example.com`;
      const id = await paid(1_000, { receipt: receiptOf(1_000, { customer: { email } }) });
      await ended(id);
      const whole = async () =>
        JSON.stringify(
          await Promise.all(
            ['receipt_terms', 'receipt', 'event', 'payment'].map(async (table) => {
              const of =
                table === 'event' ? 'true' : table === 'payment' ? 'id = $2' : 'payment_id = $2';
              const values = table === 'event' ? [merchant.id] : [merchant.id, id];
              return (
                await pool.query(`select * from ${table} where merchant_id = $1 and ${of}`, values)
              ).rows;
            }),
          ),
        );
      assert.doesNotMatch(await whole(), new RegExp(email));
      assert.doesNotMatch(await service.printed(), new RegExp(email));
      const erased = await askGraph(
        service,
        `mutation ($merchantId: ID!, $id: String!) { personalDataErase(merchantId: $merchantId, subject: payment, id: $id, reason: "They asked")
        { __typename ... on Refused { message } } }`,
        { merchantId: merchant.id, id },
      );
      assert.equal(erased.personalDataErase.__typename, 'PersonalDataErased');
      const [receipt] = await receiptsOf(id);
      assert.deepEqual(receipt.customer, { email: null, phone: null, full_name: null, inn: null });
      assert.match(receipt.fiscal_attribute, /^\d+$/);
      const { rows } = await pool.query(
        'select customer_sealed, customer_shown from receipt_terms where subject_id = $1',
        [id],
      );
      assert.deepEqual(rows, [{ customer_sealed: null, customer_shown: null }]);
      assert.equal((await call(`/payments/${id}/refund`, {})).status, 201);
      assert.equal((await ended(id, 2)).length, 2);
    });
  });

  describe('a customer whose phone is blocked', () => {
    test('gets no payment, link, token, subscription or charge with a receipt', async () => {
      const own = await makeMerchant(service);
      const post = async (path: string, body: object): Promise<[number, any]> => {
        const answer = await own.call('POST', path, body);
        return [answer.status, answer.body];
      };
      const phone = '+79160001122';
      const receipt = receiptOf(500, { customer: { phone } });
      const [, { link }] = await post('/links', { amount: 500, uses: null, receipt });
      const adding = `mutation ($m: ID!) { blockEntryAdd(merchantId: $m, kind: phone, value: "916 000-11-22", reason: "fraud") { ... on BlockEntry { shown } } }`;
      const { blockEntryAdd } = await askGraph(service, adding, { m: own.id });
      assert.deepEqual(blockEntryAdd, { shown: phone });
      await eventually(
        async () => (await post('/payments', { amount: 500, receipt }))[0] === 403,
        'the list is obeyed',
      );
      for (const [path, body] of [
        ['/payments', { amount: 500 }],
        ['/links', { amount: 500 }],
        ['/tokens', { amount: 500, method: 'sbp', customer_ref: 'buyer' }],
        ['/subscriptions', { amount: 500, customer_ref: 'buyer' }],
        ['/subscriptions', { amount: 500, customer_ref: 'buyer', trial_days: 7 }],
      ] as const) {
        const [status, { error }] = await post(path, { ...body, receipt });
        assert.deepEqual([status, error.code], [403, 'aml_blocked'], path);
        assert.ok(!error.message.includes('0001122'), error.message);
      }
      const page = await fetch(link.url, { method: 'POST', redirect: 'manual' });
      assert.equal(page.status, 422, 'by a link from before');
      const other = receiptOf(500, { customer: { phone: '+79160001123' } });
      assert.equal((await post('/payments', { amount: 500, receipt: other }))[0], 201);
      assert.deepEqual((await own.call('GET', '/tokens')).body.items, []);
    });
  });

  describe('the receipt of a refund', () => {
    test('repeats the items of a payment that is given back in full', async () => {
      const id = await paid(1_000);
      const refund = (await call(`/payments/${id}/refund`, {})).body;
      const [first, second] = await ended(id, 2);
      assert.deepEqual(
        [first.type, second.type, second.refund_id, second.amount],
        ['payment', 'refund', refund.id, 1_000],
      );
      assert.deepEqual([second.items, second.customer], [first.items, first.customer]);
    });

    test('is given with a refund of a part, which is refused without it', async () => {
      const id = await paid(1_000);
      const path = `/payments/${id}/refund`;
      const bare = await call(path, { amount: 400 });
      assert.equal(bare.status, 400);
      assert.match(bare.words, /^bad_request: receipt: required for a partial refund/);
      const wrong = await call(path, { amount: 400, receipt: receiptOf(399) });
      assert.match(wrong.words, /sum to 399, but the amount is 400/);
      const key = { 'idempotency-key': randomUUID() };
      const part = { amount: 400, receipt: receiptOf(400) };
      assert.equal((await call(path, part, key)).status, 201);
      assert.equal((await call(path, part, key)).status, 200);
      assert.equal((await call(path, { ...part, receipt: null }, key)).status, 409);
      // What is left after an earlier refund is a part.
      assert.equal((await call(path, {})).status, 400);
      assert.equal((await call(path, { receipt: receiptOf(600) })).status, 201);
      const receipts = await ended(id, 3);
      assert.deepEqual(
        receipts.map(({ type, amount }) => [type, amount]),
        [
          ['payment', 1_000],
          ['refund', 400],
          ['refund', 600],
        ],
      );
    });

    test('may be given with a full refund, when it sums, and with one of a payment without', async () => {
      const id = await paid(1_000);
      const items = [itemOf(500), itemOf(500, { description: 'Cakes' })];
      const path = `/payments/${id}/refund`;
      assert.equal((await call(path, { receipt: receiptOf(999) })).status, 400);
      assert.equal((await call(path, { receipt: receiptOf(0, { items }) })).status, 201);
      assert.equal((await ended(id, 2))[1].items.length, 2);
      const plain = await paid(1_000, { receipt: null });
      assert.equal((await call(`/payments/${plain}/refund`, { amount: 10 })).status, 201);
      const given = { amount: 20, receipt: receiptOf(20) };
      assert.equal((await call(`/payments/${plain}/refund`, given)).status, 201);
      assert.deepEqual(
        (await ended(plain)).map(({ type, amount }) => [type, amount]),
        [['refund', 20]],
      );
    });
  });

  describe('the receipt of a capture', () => {
    test('of everything is the payment’s own, and comes with the money', async () => {
      const id = await held(1_000);
      assert.deepEqual(await receiptsOf(id), []);
      assert.equal((await call(`/payments/${id}/capture`, {})).status, 200);
      assert.deepEqual(
        (await ended(id)).map(({ type, amount }) => [type, amount]),
        [['payment', 1_000]],
      );
    });

    test('of a part is its own, which a full refund repeats', async () => {
      const id = await held(1_000);
      const path = `/payments/${id}/capture`;
      const bare = await call(path, { amount: 400 });
      assert.match(bare.words, /^bad_request: receipt: required for a partial capture/);
      assert.match((await call(path, { amount: 400, receipt: receiptOf(1_000) })).words, /is 400/);
      // A capture that the bank refuses leaves its receipt behind.
      const refused = await call(path, { amount: 401, receipt: receiptOf(401) });
      assert.equal(refused.status, 422, refused.words);
      const items = [itemOf(400, { description: 'One cup' })];
      const key = { 'idempotency-key': randomUUID() };
      const part = { amount: 400, receipt: receiptOf(0, { items }) };
      assert.equal((await call(path, part, key)).status, 200);
      assert.equal((await call(path, part, key)).headers.get('idempotent-replayed'), 'true');
      assert.equal((await call(path, { amount: 400 }, key)).status, 409);
      assert.equal((await call(`/payments/${id}/refund`, {})).status, 201);
      const receipts = await ended(id, 2);
      assert.deepEqual(
        receipts.map(({ type, amount, items: [item] }) => [type, amount, item.description]),
        [
          ['payment', 400, 'One cup'],
          ['refund', 400, 'One cup'],
        ],
      );
    });
  });

  describe('the registry of receipts', () => {
    test('filters by status, days and payment, page by page', async () => {
      const mine = await makeMerchant(service);
      const reading = (query: string) => mine.call('GET', `/receipts${query}`);
      const pays = async (fields: object = {}) => {
        const body = { amount: 1_000, method: 'sbp', receipt: receiptOf(1_000), ...fields };
        const made = await mine.call('POST', '/payments', body);
        await pay(made.body.payment_url);
        const { id } = made.body.payment;
        await eventually(
          async () =>
            (await mine.call('GET', `/receipts?payment_id=${id}`)).body.items.length === 1,
          'its receipt',
        );
        return id;
      };
      const ids = [
        await pays(),
        await pays({ metadata: { simulator_receipt: 'failed' } }),
        await pays({ metadata: { simulator_receipt: 'pending' } }),
      ];
      const all = await eventually(async () => {
        const { items } = (await reading('')).body;
        const statuses = items.map(({ status }: any) => status);
        return statuses.join() === 'pending,failed,registered' && items;
      }, 'the receipts have come to their ends');
      assert.deepEqual(
        all.map(({ payment_id }: any) => payment_id),
        ids.toReversed(),
      );
      const idsOf = ({ body }: { body: any }) => body.items.map(({ id }: any) => id);
      assert.deepEqual(idsOf(await reading('?status=failed')), [all[1].id]);
      assert.deepEqual(idsOf(await reading('?status=failed,pending')), [all[0].id, all[1].id]);
      assert.deepEqual(idsOf(await reading(`?payment_id=${ids[0]}`)), [all[2].id]);
      assert.deepEqual(idsOf(await reading(`?payment_id=${ids[0]}&status=failed`)), []);
      assert.deepEqual(idsOf(await reading(`?payment_id=${randomUUID()}`)), []);
      assert.deepEqual(idsOf(await reading('?from=2020-01-01&to=2020-01-02')), []);
      assert.deepEqual(idsOf(await merchant.call('GET', `/receipts?payment_id=${ids[0]}`)), []);
      assert.equal((await merchant.call('GET', `/receipts/${all[0].id}`)).status, 404);
      const first = (await reading('?limit=2')).body;
      const rest = (await reading(`?limit=2&cursor=${first.next_cursor}`)).body;
      assert.deepEqual([...first.items, ...rest.items], all);
      assert.equal(rest.next_cursor, null);
      assert.equal((await reading('?status=lost')).status, 400);
      const wrong = await reading('?payment_id=not-a-uuid');
      assert.deepEqual(wrong.body.error, {
        code: 'bad_request',
        message: 'payment_id: expected a UUID, got "not-a-uuid"',
        fields: [{ path: 'payment_id', message: 'expected a UUID, got "not-a-uuid"' }],
      });
    });

    test('of one payment continues however its id and the statuses are written', async () => {
      const id = await paid(1_000);
      for (const amount of [300, 200])
        await call(`/payments/${id}/refund`, { amount, receipt: receiptOf(amount) });
      const receipts = (await ended(id, 3)).toReversed();
      let cursor = '';
      for (const [place, written] of [
        `${id}&status=registered,failed`,
        `${id.toUpperCase()}&status=failed,registered,failed`,
        `${id}&status=registered&status=failed`,
      ].entries()) {
        const path = `/receipts?limit=1&payment_id=${written}${cursor}`;
        const { body } = await merchant.call('GET', path);
        assert.deepEqual(body.items, [receipts[place]], path);
        cursor = `&cursor=${body.next_cursor}`;
      }
    });
  });
});
