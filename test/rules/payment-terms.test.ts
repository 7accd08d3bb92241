import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newRowId } from '../../subgraphs/platform/database/statement.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import type { Mode } from '../../subgraphs/rules/mode.ts';
import {
  paymentTerms,
  type PaymentInput,
  type PaymentTerms,
} from '../../subgraphs/payments/rules/create.ts';

const now = Temporal.Instant.from('2026-11-21T09:00:00Z');
const id = '0000ffff-0000-4000-8000-000000000000';

/** What is wrong with an input, or null. */
const mistakeOf = (input: Partial<PaymentInput>, mode: Mode = 'test'): string | null => {
  const terms = paymentTerms({ amount: 100n, ...input }, mode, id, now);
  return isRefusal(terms) ? terms.message : null;
};

test('a metadata value holds 500 characters, whatever they are made of, and not 501', () => {
  for (const character of ['x', 'ж', '🎉']) {
    assert.equal(mistakeOf({ metadata: { a: character.repeat(500) } }), null, character);
    assert.equal(
      mistakeOf({ metadata: { a: character.repeat(501) } }),
      'metadata.a: expected 0 to 500 characters, got 501',
    );
  }
});

test('metadata holds 20 pairs and not 21', () => {
  const pairs = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));
  assert.equal(mistakeOf({ metadata: pairs(20) }), null);
  assert.equal(mistakeOf({ metadata: pairs(21) }), 'metadata: expected up to 20 pairs, got 21');
});

test('a test payment takes the simulator’s words for callbacks alone, and a live one any text', () => {
  for (const simulator_callbacks of ['delayed', 'contradictory'])
    assert.equal(mistakeOf({ metadata: { simulator_callbacks } }), null);
  for (const simulator_callbacks of ['twice', '']) {
    assert.equal(
      mistakeOf({ metadata: { simulator_callbacks } }),
      `metadata.simulator_callbacks: expected one of delayed, duplicate, reordered, contradictory, late, unanswered, got "${simulator_callbacks}"`,
    );
    assert.equal(mistakeOf({ metadata: { simulator_callbacks } }, 'live'), null);
  }
});

test('a name in metadata that may be a card number is not repeated', () => {
  assert.equal(
    mistakeOf({ metadata: { '4111111111111111': '\0' } }),
    'a value in metadata: expected a text without U+0000 and unpaired surrogates',
  );
});

test('a text that no record can hold is refused in every field', () => {
  for (const bad of ['a\0b', 'a\ud800b', '\udc00']) {
    for (const input of [
      { orderId: bad },
      { customerId: bad },
      { description: bad },
      { metadata: { a: bad } },
      { metadata: { [bad]: 'a' } },
    ]) {
      assert.match(mistakeOf(input) ?? '', /U\+0000/, JSON.stringify(input));
    }
  }
});

test('every text has its limits', () => {
  assert.equal(
    mistakeOf({ orderId: '🎉'.repeat(255), customerId: 'c'.repeat(255), description: '' }),
    null,
  );
  assert.equal(mistakeOf({ orderId: '' }), 'order_id: expected 1 to 255 characters, got 0');
  assert.equal(
    mistakeOf({ customerId: 'c'.repeat(256) }),
    'customer_id: expected 1 to 255 characters, got 256',
  );
  assert.equal(
    mistakeOf({ description: 'd'.repeat(4_001) }),
    'description: expected 0 to 4000 characters, got 4001',
  );
  assert.equal(
    mistakeOf({ returnUrl: `https://shop.example/${'r'.repeat(2_048)}` }),
    'return_url: expected 1 to 2048 characters, got 2069',
  );
  assert.equal(
    mistakeOf({ currency: '' }),
    'currency: expected an ISO 4217 code such as RUB, got ""',
  );
});

test('a buyer returns to https only', () => {
  for (const address of [
    'https://shop.example',
    'https://shop.example/?a=1#b',
    'https://\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444/',
  ])
    assert.equal(mistakeOf({ returnUrl: address }), null, address);
  for (const address of [
    'http://shop.example',
    'shop.example',
    'javascript:alert(1)',
    '//shop.example',
  ])
    assert.match(mistakeOf({ returnUrl: address }) ?? '', /^return_url/, address);
});

const termsOf = (input: Partial<PaymentInput>, mode: Mode = 'test', ofId = id): PaymentTerms => {
  const terms = paymentTerms({ amount: 100n, ...input }, mode, ofId, now);
  return isRefusal(terms) ? assert.fail(terms.message) : terms;
};

test('a payment without an order id gets ord_<timestamp>, and those of one millisecond differ', () => {
  assert.equal(termsOf({}).orderId, `ord_${now.epochMilliseconds}000000`);
  const ids = Array.from({ length: 20 }, () => newRowId(now.epochMilliseconds));
  const orderIds = ids.map((one) => termsOf({}, 'test', one).orderId);
  assert.ok(new Set(orderIds).size > 18, JSON.stringify(orderIds));
  for (const orderId of orderIds) assert.match(orderId, /^ord_\d{19}$/);
});

test('everything that was not sent has its default', () => {
  const { expiresAt, metadata, ...terms } = termsOf({}, 'live');
  assert.deepEqual(
    [terms.currency, terms.method, terms.customerId, terms.description, terms.plan],
    ['RUB', 'any', null, null, null],
  );
  assert.equal(expiresAt.toString(), '2026-11-21T10:00:00Z');
  assert.deepEqual(metadata, { mode: 'live' });
  assert.equal(termsOf({ ttlMinutes: 10_080 }).expiresAt.toString(), '2026-11-28T09:00:00Z');
  for (const ttlMinutes of [0, -1, 10_081])
    assert.match(mistakeOf({ ttlMinutes }) ?? '', /^ttl_minutes/);
});

test('a reserved key that the service sets overwrites the merchant’s own; one that it does not set is the merchant’s', () => {
  const own = {
    mode: 'x',
    customer_id: 'x',
    webhook_url: 'x',
    simulator_outcome: 'x',
    failure_code: 'x',
    bank_ref: 'x',
    other: 'x',
  };
  assert.deepEqual(
    termsOf({ metadata: own, customerId: 'c', webhookUrl: 'https://shop.example/' }).metadata,
    {
      ...own,
      mode: 'test',
      customer_id: 'c',
      webhook_url: 'https://shop.example/',
      simulator_outcome: 'succeeded',
    },
  );
  assert.deepEqual(termsOf({ metadata: own }, 'live').metadata, { ...own, mode: 'live' });
});

test('the plan follows the hint, and the amount’s last two digits without a valid one', () => {
  const planOf = (amount: bigint, metadata: Record<string, string> = {}): string => {
    const { plan } = termsOf({ amount, metadata });
    return `${plan?.outcome} ${plan?.failureCode}`;
  };
  assert.equal(planOf(102n), 'failed insufficient_funds');
  assert.equal(planOf(102n, { simulator_outcome: 'succeeded' }), 'succeeded null');
  assert.equal(planOf(102n, { simulator_outcome: 'perhaps' }), 'failed insufficient_funds');
  assert.equal(
    planOf(100n, { simulator_outcome: 'failed', simulator_failure_code: 'expired_card' }),
    'failed expired_card',
  );
  assert.equal(
    planOf(100n, { simulator_outcome: 'failed', simulator_failure_code: 'bad_luck' }),
    'failed do_not_honor',
  );
  assert.equal(termsOf({ metadata: { simulator_outcome: 'failed' } }, 'live').plan, null);
});
