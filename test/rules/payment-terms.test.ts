import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefused } from '../../subgraphs/kernel/rules/refusal.ts';
import type { Mode } from '../../subgraphs/kernel/rules/mode.ts';
import { paymentTerms, type PaymentInput } from '../../subgraphs/payments/rules/create.ts';

const now = Temporal.Instant.from('2026-11-21T09:00:00Z');

/** What is wrong with an input, or null. */
const mistakeOf = (input: Partial<PaymentInput>, mode: Mode = 'test'): string | null => {
  const terms = paymentTerms({ amount: 100n, ...input }, mode, now);
  return isRefused(terms) ? terms.message : null;
};

test('a metadata value holds 500 characters, whatever they are made of, and not 501', () => {
  for (const character of ['x', 'ж', '🎉']) {
    assert.equal(mistakeOf({ metadata: { a: character.repeat(500) } }), null, character);
    assert.equal(mistakeOf({ metadata: { a: character.repeat(501) } }), 'metadata.a: expected 0 to 500 characters, got 501');
  }
});

test('metadata holds 20 pairs and not 21', () => {
  const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));
  assert.equal(mistakeOf({ metadata: pairs(20) }), null);
  assert.equal(mistakeOf({ metadata: pairs(21) }), 'metadata: expected up to 20 pairs, got 21');
});

test('a name in metadata that may be a card number is not repeated', () => {
  assert.equal(
    mistakeOf({ metadata: { '4111111111111111': '\0' } }),
    'a value in metadata: expected a text without U+0000 and without halves of surrogate pairs',
  );
});

test('a text that no record can hold is refused in every field', () => {
  for (const bad of ['a\0b', 'a\ud800b', '\udc00']) {
    for (const input of [{ orderId: bad }, { customerId: bad }, { description: bad }, { metadata: { a: bad } }, { metadata: { [bad]: 'a' } }]) {
      assert.match(mistakeOf(input) ?? '', /U\+0000/, JSON.stringify(input));
    }
  }
});

test('every text has its limits', () => {
  assert.equal(mistakeOf({ orderId: '🎉'.repeat(255), customerId: 'c'.repeat(255), description: '' }), null);
  assert.equal(mistakeOf({ orderId: '' }), 'order_id: expected 1 to 255 characters, got 0');
  assert.equal(mistakeOf({ customerId: 'c'.repeat(256) }), 'customer_id: expected 1 to 255 characters, got 256');
  assert.equal(mistakeOf({ description: 'd'.repeat(4_001) }), 'description: expected 0 to 4000 characters, got 4001');
  assert.equal(mistakeOf({ returnUrl: `https://shop.example/${'r'.repeat(2_048)}` }), 'return_url: expected 1 to 2048 characters, got 2069');
  assert.equal(mistakeOf({ currency: '' }), 'currency: expected an ISO 4217 code such as RUB, got ');
});

test('webhooks of live payments go to https only, and nowhere with a user name', () => {
  assert.equal(mistakeOf({ webhookUrl: 'http://127.0.0.1:9000/hook' }), null);
  assert.equal(mistakeOf({ webhookUrl: 'https://shop.example/hook' }, 'live'), null);
  assert.equal(mistakeOf({ webhookUrl: 'http://shop.example/hook' }, 'live'), 'webhook_url: expected an address that starts with https://');
  for (const address of ['ftp://shop.example', 'shop.example', 'https://']) assert.match(mistakeOf({ webhookUrl: address }) ?? '', /^webhook_url/, address);
  assert.equal(mistakeOf({ webhookUrl: 'https://user:secret@shop.example/' }), 'webhook_url: expected an address without a user name and a password');
});

test('a buyer returns to https only', () => {
  for (const address of ['https://shop.example', 'https://shop.example/?a=1#b', 'https://\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444/'])
    assert.equal(mistakeOf({ returnUrl: address }), null, address);
  for (const address of ['http://shop.example', 'shop.example', 'javascript:alert(1)', '//shop.example'])
    assert.match(mistakeOf({ returnUrl: address }) ?? '', /^return_url/, address);
});
