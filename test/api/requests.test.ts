/** The log of requests over HTTP. */
import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { issueKey } from '../support/cabinet.ts';
import { makeMerchant, type Merchant } from '../support/merchant.ts';
import { openPlainService } from '../support/plain-service.ts';
import { eventually } from '../support/eventually.ts';
import { maskBody, bodyKept_max_bytes } from '../../rest-facade/request-log/note-requests.ts';
import { namesOf, readContract } from '../../rest-facade/read-contract.ts';

const service = await openPlainService();
after(() => service.stop());

/** Sends under a request id of its own; gives the id. */
const send = async (
  merchant: Merchant,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<string> => {
  const id = `req-${randomUUID()}`;
  await merchant.call(method, path, body, { 'x-request-id': id, ...headers });
  return id;
};

const read = (merchant: Merchant, id: string) =>
  eventually(async () => {
    const { status, body } = await merchant.call('GET', `/requests/${id}`);
    return status === 200 && body;
  }, `the request ${id}`);

describe('the log of requests', () => {
  test('has what was refused and what created something, newest first, and nothing else', async () => {
    const merchant = await makeMerchant(service);
    const created = await send(
      merchant,
      'POST',
      '/payments',
      { amount: 100, order_id: 'A-1' },
      { 'idempotency-key': 'k-1' },
    );
    const replayed = await send(
      merchant,
      'POST',
      '/payments',
      { amount: 100, order_id: 'A-1' },
      { 'idempotency-key': 'k-1' },
    );
    const listed = await send(merchant, 'GET', '/payments');
    const refused = await send(merchant, 'POST', '/payments', { amount: 0 });
    const absent = await send(merchant, 'GET', `/payments/${randomUUID()}`);
    const last = await read(merchant, absent);
    assert.deepEqual([last.status, last.code], [404, 'not_found']);
    const { body: page } = await merchant.call('GET', '/requests?limit=2');
    const { body: next } = await merchant.call(
      'GET',
      `/requests?limit=2&cursor=${page.next_cursor}`,
    );
    const ids = [...page.items, ...next.items].map(({ id }: { readonly id: string }) => id);
    assert.deepEqual(ids.slice(0, 3), [absent, refused, created]);
    for (const id of [replayed, listed])
      assert.equal((await merchant.call('GET', `/requests/${id}`)).status, 404);

    const { request_body, response_body, at, duration_ms, ...row } = await read(merchant, created);
    assert.deepEqual(row, {
      id: created,
      method: 'POST',
      path: '/v1/public/payments',
      status: 201,
      code: null,
      key_prefix: merchant.key.split('_').slice(0, 3).join('_'),
      idempotency_key: 'k-1',
    });
    assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000 && duration_ms >= 0);
    assert.deepEqual(JSON.parse(request_body), { amount: 100, order_id: 'A-1' });
    assert.equal(JSON.parse(response_body).payment.amount, 100);
    const { error } = JSON.parse((await read(merchant, refused)).response_body);
    assert.equal(error.fields[0].path, 'amount');

    const { body: filtered } = await merchant.call('GET', '/requests?status=400,409');
    assert.deepEqual(
      filtered.items.map(({ id }: { readonly id: string }) => id),
      [refused],
    );
    for (const query of ['status=abc', 'limit=0', 'cursor=x', 'from=2026-02-02&to=2026-02-01'])
      assert.equal((await merchant.call('GET', `/requests?${query}`)).status, 400, query);
  });

  test('is that of the shop and the mode of the key, which needs api:reports:read', async () => {
    const merchant = await makeMerchant(service);
    const other = await makeMerchant(service);
    const id = await send(merchant, 'POST', '/payments', { amount: 0 });
    await read(merchant, id);
    assert.equal((await other.call('GET', `/requests/${id}`)).status, 404);
    const { secret: key } = await issueKey(service, merchant, 'test', ['api:balance:read']);
    const answer = await fetch(`${service.rest}/v1/public/requests`, {
      headers: { authorization: `Bearer ${key}` },
    });
    assert.equal(answer.status, 403);
  });

  test('has no personal data and no secret', async () => {
    const merchant = await makeMerchant(service);
    const secret = 'whs_0123456789abcdef';
    const bodies: readonly (readonly [string, unknown])[] = [
      [
        '/payouts',
        {
          amount: 1,
          method: 'payouts_card',
          card_pan: '4111111111111111',
          full_name: 'Ivan Petrov',
        },
      ],
      [
        '/payouts',
        { amount: 1, phone: '+79161234567', bank_id: '100000000111', full_name: 'Ivan Petrov' },
      ],
      ['/payouts', { amount: 1, phone: '89161234567', bank_id: '4111111111111111' }],
      [
        '/payouts',
        {
          amount: 1,
          method: 'payouts_account',
          account_number: '40702810900000000001',
          bik: '044525225',
        },
      ],
      [
        '/payments',
        { amount: 1, card: { number: '4111111111111111', cvc: '737' }, cardholder: 'Ivan Petrov' },
      ],
      ['/payments', { amount: 4111111111111111, order_id: 'ivan.petrov@example.com' }],
      ['/payments', { amount: 1, order_id: '4111 1111 1111 1111', description: 'Ivan Petrov' }],
      ['/payments', { amount: 1, metadata: { name: 'Ivan Petrov', secret } }],
      ['/payments', { amount: 1, order_id: secret }],
      ['/payments', { amount: 1, currency: '+7 916 123-45-67', customer_id: 'Ivan Petrov' }],
      ['/tokens', { customer_ref: 'Ivan Petrov', customer_email: 'ivan.petrov@example.com' }],
      [
        '/payments',
        {
          amount: 100,
          receipt: {
            customer: {
              email: 'ivan.petrov@example.com',
              phone: '+79161234567',
              full_name: 'Ivan Petrov',
              inn: '500100732259',
            },
            items: [{ description: 'Tea', quantity: '1', price: 100, vat_code: 1 }],
          },
        },
      ],
    ];
    for (const [path, body] of bodies) {
      const id = await send(merchant, 'POST', path, body);
      const text = JSON.stringify(await read(merchant, id)).replaceAll(/[ ()-]/g, '');
      assert.doesNotMatch(
        text,
        /4111111|916123|40702810|737"|IvanPetrov|ivan\.petrov|whs_|500100732259|\/pay\//,
        `${path} ${JSON.stringify(body)} is ${text}`,
      );
    }
  });
});

describe('a body that is kept', () => {
  const known = namesOf(readContract());

  test('is at most 16 KB of what the contract names', () => {
    const items = Array.from({ length: 5_000 }, () => ({ amount: 1, currency: 'RUB' }));
    const kept = maskBody(JSON.stringify({ items, Ivan: 1 }), known) ?? '';
    assert.equal(Buffer.byteLength(kept), bodyKept_max_bytes);
    assert.equal(maskBody('{"amount":1,"sum":{"a":2}}', known), '{"amount":1,"sum":"***"}');
  });

  test('says its length where it is no JSON, and is null where there is none', () => {
    assert.equal(maskBody('{"card_pan":4111111111111111', known), '(28 bytes that are not JSON)');
    assert.equal(maskBody('', known), null);
  });
});
