import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { assertDescribed } from '../support/described-answer.ts';
import { makeMerchant } from '../support/merchant.ts';
import { openPlainService } from '../support/plain-service.ts';

const service = await openPlainService();
after(() => service.stop());
const { key } = await makeMerchant(service);

interface Sent {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly text: string;
}

/** What came, held to the description of the API. */
const received = async (method: string, path: string, response: Response): Promise<Sent> => {
  const text = await response.text();
  const body: unknown = JSON.parse(text);
  assertDescribed(method, `/v1/public${path}`, { status: response.status, body });
  const { code = '', message = '' } = JSON.parse(text).error ?? {};
  return { status: response.status, code, message, text };
};

/** Sends bytes as they are. */
const send = async (
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Sent> => {
  const response = await fetch(`${service.rest}/v1/public${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body,
  });
  return received('POST', path, response);
};

const read = async (path: string): Promise<Sent> => {
  const response = await fetch(`${service.rest}/v1/public${path}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return received('GET', path, response);
};

const integer = 'expected an integer from 1 to 9007199254740991';
const https = 'expected an address that starts with https://';

/** Body of POST /payments, and the whole message. */
const payments: readonly (readonly [string, string])[] = [
  // What an integer is.
  ['{"amount":"100"}', `amount: ${integer}, got "100"`],
  ['{"amount":100.0}', `amount: ${integer}, got 100.0`],
  ['{"amount":1e2}', `amount: ${integer}, got 1e2`],
  ['{"amount":1E+2}', `amount: ${integer}, got 1E+2`],
  ['{"amount" :\t1.5}', `amount: ${integer}, got 1.5`],
  ['{"amount":0}', `amount: ${integer}, got 0`],
  ['{"amount":-1}', `amount: ${integer}, got -1`],
  ['{"amount":9007199254740992}', `amount: ${integer}, got a number of 16 characters`],
  ['{"amount":9007199254740993}', `amount: ${integer}, got a number of 16 characters`],
  ['{"amount":null}', `amount: ${integer}, got null`],
  ['{"amount":true}', `amount: ${integer}, got true`],
  ['{"amount":[1]}', `amount: ${integer}, got an array of 1`],
  ['{"amount":{}}', `amount: ${integer}, got an object of 0`],
  ['{"amount":1,"ttl_minutes":60.0}', 'ttl_minutes: expected an integer from 1 to 10080, got 60.0'],
  ['{}', `amount: required, ${integer}, got nothing`],
  [
    '{"amount":1,"sum":1}',
    'sum: unknown field, expected amount, currency, method, capture, order_id, customer_id, return_url, on_decline, description, webhook_url, ttl_minutes, metadata, receipt',
  ],
  ['{"amount":1,"currency":"RUR1"}', 'currency: expected an ISO 4217 currency code, got "RUR1"'],
  ['{"amount":1,"currency":"rub"}', 'currency: expected an ISO 4217 currency code, got "rub"'],
  [
    '{"amount":1,"method":"cash"}',
    'method: expected one of sbp, cards, tpay, sberpay, recurrent, any, got "cash"',
  ],
  ['{"amount":1,"order_id":""}', 'order_id: expected a string of 1 to 255 characters, got ""'],
  ['{"amount":1,"order_id":7}', 'order_id: expected a string of 1 to 255 characters, got 7'],
  [
    '{"amount":1,"return_url":"http://shop.example"}',
    `return_url: ${https}, got "http://shop.example"`,
  ],
  ['{"amount":1,"return_url":"https://"}', `return_url: ${https}, got "https://"`],
  ['{"amount":1,"return_url":"https://a b"}', `return_url: ${https}, got "https://a b"`],
  [
    '{"amount":1,"return_url":"javascript:alert(1)"}',
    `return_url: ${https}, got "javascript:alert(1)"`,
  ],
  [
    `{"amount":1,"return_url":"https://shop.example/${'x'.repeat(2_028)}"}`,
    'return_url: expected a string of up to 2048 characters, got a string of 2049 characters',
  ],
  [
    '{"amount":1,"webhook_url":"ftp://shop.example"}',
    `webhook_url: ${https} (or http:// where private targets are allowed), got "ftp://shop.example"`,
  ],
  ['{"amount":1,"ttl_minutes":0}', 'ttl_minutes: expected an integer from 1 to 10080, got 0'],
  [
    '{"amount":1,"ttl_minutes":10081}',
    'ttl_minutes: expected an integer from 1 to 10080, got 10081',
  ],
  [
    '{"amount":1,"metadata":{"a":1}}',
    'metadata.a: expected a string of up to 500 characters, got 1',
  ],
  [
    '{"amount":1,"metadata":{"a":1.0}}',
    'metadata.a: expected a string of up to 500 characters, got 1.0',
  ],
  ['{"amount":1,"metadata":1.5}', 'metadata: expected an object of up to 20 strings, got 1.5'],
  [
    '{"amount":1,"metadata":[]}',
    'metadata: expected an object of up to 20 strings, got an array of 0',
  ],
  [
    `{"amount":1,"metadata":${JSON.stringify(Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, ''])))}}`,
    'metadata: expected an object of up to 20 strings, got an object of 21',
  ],
  ['{"amount":1,"metadata":{"":"x"}}', 'metadata: expected names of 1 to 128 characters'],
  [
    `{"amount":1,"metadata":{"a":"${'🎉'.repeat(501)}"}}`,
    'metadata.a: expected a string of up to 500 characters, got a string of 501 characters',
  ],
  // Bodies that are no objects, or no JSON.
  ['[]', 'the body: expected an object, got an array of 0'],
  ['null', 'the body: expected an object, got null'],
  ['"x"', 'the body: expected an object, got "x"'],
  ['1.5', 'the body: expected an object, got 1.5'],
  ['{"amount":1', 'the body is not valid JSON'],
  ['{"amount":01}', 'the body is not valid JSON'],
  ["{'amount':1}", 'the body is not valid JSON'],
  ['{"amount":NaN}', 'the body is not valid JSON'],
  ['', 'the body: required, expected a JSON object, got nothing'],
  ['['.repeat(100_000), 'the body is not valid JSON'],
  // What no record can hold.
  ['{"amount":1,"__proto__":{"mode":"live"}}', 'the body: the name __proto__ is not allowed'],
  [
    '{"amount":1,"metadata":{"\\u005f_proto__":"x"}}',
    'the body: the name __proto__ is not allowed',
  ],
  [
    '{"amount":1,"order_id":"a\\u0000b"}',
    'order_id: expected a string of 1 to 255 characters, got a text with U+0000',
  ],
  [
    '{"amount":1,"metadata":{"note":"\\ud800"}}',
    'metadata.note: expected a string of up to 500 characters, got a text with an unpaired surrogate',
  ],
  ['{"metadata":{"\\u0000":"x"}}', 'the body: a text with U+0000 is not allowed as a name'],
];

describe('a payment’s body that is wrong is 400 bad_request, and the message says where and why', () => {
  for (const [body, message] of payments) {
    test(body.length > 80 ? `${body.slice(0, 80)}…` : body || '(nothing)', async () => {
      const answer = await send('/payments', body);
      assert.deepEqual([answer.status, answer.code, answer.message], [400, 'bad_request', message]);
    });
  }

  test('bytes that are no UTF-8', async () => {
    const answer = await send(
      '/payments',
      new Uint8Array([
        ...Buffer.from('{"amount":1,"order_id":"'),
        0xc3,
        0x28,
        ...Buffer.from('"}'),
      ]),
    );
    assert.deepEqual([answer.status, answer.message], [400, 'the body is not valid UTF-8']);
  });

  test('a body nested 40,000 deep', async () => {
    const answer = await send(
      '/payments',
      `{"amount":1,"metadata":${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}}`,
    );
    assert.deepEqual([answer.status, answer.code], [400, 'bad_request']);
  });
});

describe('what looks odd and is right is taken', () => {
  const bodies = [
    '{"amount":9007199254740991}',
    ' { "amount" : 1 } ',
    '{"amount":1,"order_id":"order: 1.5e3, 12345678901234567890"}',
    '{"amount":1,"metadata":{"constructor":"a","price":"1.50"}}',
    `{"amount":1,"metadata":{"a":"${'я'.repeat(500)}"}}`,
    '{"amount":1,"order_id":"\\ud83d\\ude00","description":""}',
    // A scheme has no case.
    '{"amount":1,"return_url":"HTTPS://shop.example/back","webhook_url":"Https://shop.example/hook"}',
    '{"amount":1,"currency":null,"method":null,"order_id":null,"return_url":null,"webhook_url":null,"ttl_minutes":null,"metadata":null}',
  ];
  for (const body of bodies) {
    test(body.slice(0, 80), async () => assert.equal((await send('/payments', body)).status, 201));
  }

  test('a field that is null says the same as none, also to an idempotency key', async () => {
    const asked = { 'idempotency-key': 'null' };
    assert.equal((await send('/payments', '{"amount":1,"order_id":null}', asked)).status, 201);
    assert.equal((await send('/payments', '{"amount":1}', asked)).status, 200);
    assert.match(
      (await send('/payouts', '{"amount":1,"method":null}')).message,
      /^phone: required/,
    );
    const batch = await send(
      '/payouts/batch',
      '{"method":"payouts_sbp","items":[{"amount":null,"full_name":null}]}',
    );
    assert.deepEqual([batch.status, JSON.parse(batch.text).results[0].code], [201, 'bad_request']);
  });

  test('a content type with a charset', async () => {
    assert.equal(
      (
        await send('/payments', '{"amount":1}', {
          'content-type': 'application/json; charset=UTF-8',
        })
      ).status,
      201,
    );
  });
});

describe('a payout’s body is checked as the method that it names', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['{"amount":1}', 'phone: required, expected +7 and 10 digits, got nothing'],
    [
      '{"amount":1,"phone":"89161234567","bank_id":"100000000111"}',
      'phone: expected +7 and 10 digits, got "89161234567"',
    ],
    [
      '{"amount":1,"phone":"+79161234567","bank_id":"10000000011"}',
      'bank_id: expected 12 digits, got "10000000011"',
    ],
    [
      '{"amount":1,"method":"payouts_card"}',
      'card_pan: required, expected 16 to 18 digits, got nothing',
    ],
    [
      '{"amount":1,"method":"payouts_account","account_number":"1","bik":"1"}',
      'account_number: expected 20 digits, got a string of 1 characters',
    ],
    [
      '{"amount":1,"method":"cash"}',
      'method: expected one of payouts_sbp, payouts_card, payouts_account, got "cash"',
    ],
    [
      '{"amount":1,"method":7}',
      'method: expected one of payouts_sbp, payouts_card, payouts_account, got 7',
    ],
    [
      '{"amount":1,"method":"payouts_card","phone":"+79161234567","card_pan":"4111111111111111"}',
      'phone: unknown field, expected amount, currency, method, card_pan, order_id, metadata, full_name',
    ],
  ];
  for (const [body, message] of rows) {
    test(body, async () => {
      const answer = await send('/payouts', body);
      assert.deepEqual([answer.status, answer.code, answer.message], [400, 'bad_request', message]);
    });
  }

  const batches: readonly (readonly [string, string])[] = [
    [
      '{"items":[]}',
      'method: required, expected one of payouts_sbp, payouts_card, payouts_account, got nothing',
    ],
    [
      '{"method":"payouts_sbp"}',
      'items: required, expected an array of 1 to 1000 items, got nothing',
    ],
    [
      '{"method":"payouts_sbp","items":[]}',
      'items: expected an array of 1 to 1000 items, got an array of 0',
    ],
    [
      `{"method":"payouts_sbp","items":[${'{"amount":1},'.repeat(1_000)}{"amount":1}]}`,
      'items: expected an array of 1 to 1000 items, got an array of 1001',
    ],
    [
      '{"method":"payouts_sbp","items":[{"amount":1},{"amount":"1"}]}',
      `items[1].amount: ${integer}, got "1"`,
    ],
    [
      '{"method":"payouts_sbp","items":[{"amount":1,"card_pan":"1"}]}',
      'items[0].card_pan: unknown field, expected method, amount, currency, phone, bank_id, full_name, order_id, metadata',
    ],
    [
      '{"method":"payouts_sbp","items":[{"method":"payouts_card"}]}',
      'items[0].method: expected payouts_sbp, got "payouts_card"',
    ],
  ];
  test('an amount of a batch item, said as it came', async () => {
    const items = '[{"amount":-5},{"amount":0},{}]';
    const { text } = await send('/payouts/batch', `{"method":"payouts_sbp","items":${items}}`);
    for (const [place, came] of ['-5', '0', 'nothing'].entries())
      assert.equal(JSON.parse(text).results[place].error, `amount: ${integer}, got ${came}`);
  });
  for (const [body, message] of batches) {
    test(`batch ${body.slice(0, 80)}`, async () =>
      assert.equal((await send('/payouts/batch', body)).message, message));
  }
});

describe('a card number, an account number or a secret is never repeated', () => {
  const pan = '4111111111111111';
  const account = '40702810900000000001';
  const rows: readonly (readonly [string, string])[] = [
    ['/payouts', `{"amount":1,"method":"payouts_card","card_pan":${pan}}`],
    ['/payouts', `{"amount":1,"method":"payouts_card","card_pan":"${pan}00000"}`],
    ['/payouts', `{"amount":1,"method":"payouts_card","card_pan":["${pan}"]}`],
    [
      '/payouts',
      `{"amount":1,"method":"payouts_account","account_number":"${account}0","bik":"1"}`,
    ],
    ['/payouts', `{"amount":1,"phone":"${pan}","bank_id":"1"}`],
    ['/payouts', `{"amount":1,"method":"${pan}"}`],
    ['/payouts', `{"amount":1,"${pan}":1}`],
    ['/payments', `{"amount":1,"metadata":{"${pan}":1}}`],
    ['/payments', `{"amount":"${pan}"}`],
    ['/payments', `{"amount":"4111 1111 1111 1111"}`],
    ['/payments', `{"amount":"4111-1111-1111-1111"}`],
    ['/payments', `{"amount":${pan}0}`],
    ['/payments', `{"amount":1,"currency":"${pan}`],
    ['/payouts/batch', `{"method":"payouts_card","items":[{"amount":1,"card_pan":${pan}}]}`],
  ];
  for (const [path, body] of rows) {
    test(`${path} ${body}`, async () => {
      const answer = await send(path, body);
      assert.equal(answer.status, 400);
      assert.doesNotMatch(answer.text.replaceAll(/[ -]/g, ''), /4111111|4070281/);
    });
  }

  test('a key that was sent as a value', async () => {
    const { text } = await send('/payments', JSON.stringify({ amount: key }));
    assert(!text.includes(key.slice(-8)), text);
  });

  test('nothing of them was printed by the service', async () => {
    const printed = await service.printed();
    assert.doesNotMatch(printed, /4111111111111111|40702810900000000001/);
  });
});

describe('a query that is wrong is 400 bad_request', () => {
  const statuses =
    'pending, processing, authorized, succeeded, failed, expired, cancelled, refunded';
  const rows: readonly (readonly [string, string])[] = [
    ['/payments?limit=0', 'limit: expected an integer from 1 to 200, got 0'],
    ['/payments?limit=201', 'limit: expected an integer from 1 to 200, got 201'],
    ['/payments?limit=1.0', 'limit: expected an integer from 1 to 200, got "1.0"'],
    ['/payments?limit=%201', 'limit: expected an integer from 1 to 200, got " 1"'],
    ['/payments?limit=', 'limit: expected an integer from 1 to 200, got ""'],
    ['/payments?limit=1&limit=2', 'limit: expected once, got several'],
    ['/payments?include_test=0&include_test=1', 'include_test: expected once, got several'],
    ['/payments?status=paid', `status[0]: expected one of ${statuses}, got "paid"`],
    ['/payments?status=pending,', `status[1]: expected one of ${statuses}, got ""`],
    ['/payments?status=pending&status=paid', `status[1]: expected one of ${statuses}, got "paid"`],
    ['/payments?status=pending&status=%00', 'status: not a valid text'],
    ['/payments?from=2026-02-29', 'from: expected a calendar day, YYYY-MM-DD, got "2026-02-29"'],
    ['/payments?to=2026-5-1', 'to: expected a calendar day, YYYY-MM-DD, got "2026-5-1"'],
    [
      '/payments?from=2026-05-02&to=2026-05-01',
      'from: expected a day not after to (2026-05-01), got "2026-05-02"',
    ],
    ['/payments?include_test=true', 'include_test: expected one of 0, 1, got "true"'],
    [
      '/payments?page=2',
      'page: unknown query parameter, expected limit, cursor, status, from, to, created_from, created_to, order_id, customer_id, include_test',
    ],
    [
      '/payments?__proto__=2',
      '__proto__: unknown query parameter, expected limit, cursor, status, from, to, created_from, created_to, order_id, customer_id, include_test',
    ],
    [
      '/ledger?type=gift',
      'type: expected one of payment, fee, refund, payout, payout_fee, settlement, adjustment, got "gift"',
    ],
    ['/ledger?format=xml', 'format: expected csv, got "xml"'],
    [
      '/payouts?method=sbp',
      'method[0]: expected one of payouts_sbp, payouts_card, payouts_account, got "sbp"',
    ],
    ['/balance?x=1', 'x: unknown query parameter, expected currency'],
    ['/tokens?customer_ref=a%00b', 'customer_ref: not a valid text'],
  ];
  for (const [path, message] of rows) {
    test(path, async () => {
      const answer = await read(path);
      assert.deepEqual([answer.status, answer.code, answer.message], [400, 'bad_request', message]);
    });
  }

  test('a cursor that is not ours', async () => {
    const answer = await read('/payments?cursor=xyz');
    assert.deepEqual([answer.status, answer.code], [400, 'bad_request']);
  });

  test('several statuses, a leap day and the largest page are right', async () => {
    assert.equal(
      (await read('/payments?status=pending,succeeded&from=2028-02-29&to=2028-02-29&limit=200'))
        .status,
      200,
    );
  });
});

describe('a body where there is none', () => {
  const id = '8c5e0c9a-2f5d-4f67-9a51-3a9b1c7f6e11';
  test('an empty object is as good as nothing', async () =>
    assert.equal((await send(`/payments/${id}/cancel`, '{}')).code, 'not_found'));
  test('nothing of another type is nothing', async () =>
    assert.equal(
      (await send(`/payments/${id}/cancel`, '', { 'content-type': 'text/plain' })).code,
      'not_found',
    ));
  test('a field is refused', async () =>
    assert.equal(
      (await send(`/payments/${id}/cancel`, '{"a":1}')).message,
      'a: unknown field, expected none',
    ));
});

test('a request may name the date of the API: an unknown one is 400 with the known ones', async () => {
  const dated = (version: string) =>
    send('/payments', '{"amount":100}', { 'x-api-version': version });
  assert.equal((await dated('2026-05-06')).status, 201);
  for (const version of ['2026-05-07', 'latest', '2026-05-06, 2026-05-06']) {
    const { status, code, message } = await dated(version);
    assert.deepEqual([status, code], [400, 'bad_request']);
    assert.equal(
      message,
      `X-Api-Version: expected one of 2026-05-06, got ${JSON.stringify(version)}`,
    );
  }
  const listed = await fetch(`${service.rest}/v1/public/payments`, {
    headers: { authorization: `Bearer ${key}`, 'x-api-version': '1' },
  });
  assert.equal(listed.status, 400);
});

test('the document names the address that serves it', async () => {
  const read = await fetch(`${service.rest}/v1/public/openapi.json`);
  const { url } = JSON.parse(await read.text()).servers[0];
  assert.equal((await fetch(`${url}/v1/public/openapi.json`)).status, 200);
});
