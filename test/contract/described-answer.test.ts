import { test } from 'node:test';
import assert from 'node:assert/strict';
import { assertDescribed } from '../support/described-answer.ts';

const refund = {
  id: '6a1d5a0c-8c11-4d1b-b0d5-9f0e7c2a4b33',
  payment_id: '8c5e0c9a-2f5d-4f67-9a51-3a9b1c7f6e11',
  merchant_id: '0b2f6c1e-77c1-4a0d-8f0f-7e7a9f3c1d10',
  amount: 4_000,
  reason: null,
  status: 'pending',
  fail_reason: '',
  created_at: '2026-05-06T12:00:00.000Z',
  completed_at: null,
};
const path = '/v1/public/payments/8c5e0c9a-2f5d-4f67-9a51-3a9b1c7f6e11/refund';
const check = (status: number, body: unknown, at = path) =>
  assertDescribed('POST', at, { status, body });

test('an answer that the description names passes', () => {
  check(201, refund);
  check(200, refund);
  check(409, {
    error: { code: 'already_refunded', message: 'the payment is already refunded in full' },
  });
  check(
    404,
    { error: { code: 'not_found', message: 'there is no such route' } },
    '/v1/public/nowhere',
  );
});

test('a status, a field, a form or an envelope that the description does not name fails', () => {
  const { reason: _, ...without } = refund;
  const wrong: readonly (readonly [number, unknown])[] = [
    [202, refund],
    [201, { ...refund, secret: 'x' }],
    [201, without],
    [201, { ...refund, amount: 4_000.5 }],
    [201, { ...refund, id: 'not-a-uuid' }],
    [201, { ...refund, created_at: '2026-05-06T12:00:00+03:00' }],
    [201, { ...refund, status: 'done' }],
    [409, { error: { code: 'already_refunded' } }],
    [409, { error: { code: 'already_refunded', message: 'x', trace: 'y' } }],
  ];
  for (const [status, body] of wrong)
    assert.throws(
      () => check(status, body),
      assert.AssertionError,
      `${status} ${JSON.stringify(body)}`,
    );
  assert.throws(() => check(404, 'plain text', '/v1/public/nowhere'), assert.AssertionError);
});

test('the deepest objects are closed too: a field that a payment’s refund should not have', () => {
  const page = { items: [{ ...refund, extra: 1 }], next_cursor: null };
  assert.throws(
    () => assertDescribed('GET', '/v1/public/refunds?limit=1', { status: 200, body: page }),
    /must NOT have additional properties/,
  );
});
