/** Every mistake at once, and the first use of an idempotency key. */
import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { makeMerchant } from '../support/merchant.ts';
import { openPlainService } from '../support/plain-service.ts';

const service = await openPlainService();
after(() => service.stop());
const { key } = await makeMerchant(service);

/** Sends a body as it is; a GET without one. */
const send = async (path: string, body: string | null, headers: Record<string, string> = {}) => {
  const response = await fetch(`${service.rest}/v1/public${path}`, {
    method: body === null ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body,
  });
  return { status: response.status, error: JSON.parse(await response.text()).error };
};

describe('a 400 names every field with a mistake at once', () => {
  const item = '{"description":"Tea","quantity":"1","price":-1,"vat_code":99}';
  const rows: readonly (readonly [path: string, body: string | null, fields: readonly string[]])[] =
    [
      [
        '/payments',
        `{"amount":0,"currency":"xx","ttl_minutes":0,"sum":1,"metadata":{"a":1},"receipt":{"customer":{},"items":[${item},{}]}}`,
        [
          'amount',
          'currency',
          'metadata.a',
          'receipt.customer',
          'receipt.items[0].price',
          'receipt.items[0].vat_code',
          'receipt.items[1].description',
          'receipt.items[1].price',
          'receipt.items[1].quantity',
          'receipt.items[1].vat_code',
          'sum',
          'ttl_minutes',
        ],
      ],
      ['/payouts', '{"amount":0,"phone":"1","bank_id":"x"}', ['amount', 'bank_id', 'phone']],
      ['/payouts', '{"method":"cash","amount":0}', ['amount', 'method']],
      ['/payouts', '{"method":"cash","amount":1,"order_id":null}', ['method']],
      [
        '/payouts',
        '{"amount":1,"method":"payouts_card","card_pan":"\\u0000","full_name":"\\ud800","order_id":"\\u0000"}',
        ['card_pan', 'full_name', 'order_id'],
      ],
      [
        '/payouts/batch',
        '{"method":"payouts_sbp","items":[{"amount":"x"},{"sum":1}]}',
        ['items[0].amount', 'items[1].sum'],
      ],
      // Rules that one field alone does not tell.
      [
        '/links',
        '{"amount":100,"amount_min":1,"expires_at":"2020-01-01T00:00:00Z"}',
        ['amount', 'expires_at'],
      ],
      ['/payments?limit=1', '{"amount":0}', ['amount', 'limit']],
      [
        '/payments?limit=0&status=paid,failed&from=x&color=red',
        null,
        ['color', 'from', 'limit', 'status[0]'],
      ],
      ['/payments?from=2026-02-02&to=2026-02-01&limit=0', null, ['from', 'limit']],
      ['/payments?cursor=damaged', null, ['cursor']],
      ['/refunds?payment_id=1&limit=0', null, ['limit', 'payment_id']],
      ['/event-log?subject_id=1&event=paid', null, ['event[0]', 'subject_id']],
    ];
  for (const [path, body, fields] of rows) {
    test(`${path} ${body ?? ''}`, async () => {
      const { status, error } = await send(path, body);
      assert.equal(status, 400);
      const named = error.fields.map((field: { path: string }) => field.path);
      assert.deepEqual(named.toSorted(), fields);
      const [first] = error.fields;
      assert.equal(error.message, `${first.path}: ${first.message}`);
    });
  }

  test('and what was expected, even where the kind of payout is not known', async () => {
    const { error } = await send('/payouts/batch', '{}');
    assert.deepEqual(error.fields.at(-1), {
      path: 'items',
      message: 'required, expected an array of 1 to 1000 items, got nothing',
    });
  });

  test('at most 20 of them', async () => {
    const names = Array.from({ length: 30 }, (_, place) => `"field_${place}":1`);
    const { error } = await send('/payments', `{"amount":1,${names.join(',')}}`);
    assert.equal(error.fields.length, 20);
  });

  test('and none where no field has one', async () => {
    for (const body of ['{"amount":1', '[]', '']) {
      const { error } = await send('/payments', body);
      assert.deepEqual(Object.keys(error), ['code', 'message'], body);
    }
  });
});

test('an idempotency conflict names the first use of the key', async () => {
  const before = Date.now();
  const first = { 'idempotency-key': 'first use', 'x-request-id': 'req-first' };
  assert.equal((await send('/payments', '{"amount":1}', first)).status, 201);
  const again = { 'idempotency-key': 'first use', 'x-request-id': 'req-second' };
  const { status, error } = await send('/links', '{"amount":2}', again);
  const { code, first_request: named } = error;
  assert.deepEqual([status, code], [409, 'idempotent_conflict']);
  assert.ok(Date.parse(named.at) >= before - 1_000 && Date.parse(named.at) <= Date.now());
  assert.deepEqual(
    { ...named, at: null },
    { method: 'POST', path: '/v1/public/payments', at: null, request_id: 'req-first' },
  );
});
