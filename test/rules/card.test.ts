import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  holdsCardNumber,
  maskCardNumbers,
  maskedDeeply,
  brandOf,
  cardMistake,
  isCardNumber,
  isGoodUntil,
} from '../../subgraphs/rules/card.ts';
import { brandOf as brandShown } from '../../rest-facade/checkout/browser/card-rules.js';
import { en } from '../../rest-facade/checkout/words/en.ts';

test('a card number passes the Luhn check and no neighbour of it does', () => {
  const number = '4111111111111111';
  assert.equal(isCardNumber(number), true);
  for (let digit = 0; digit < 10; digit += 1)
    if (digit !== 1)
      assert.equal(isCardNumber(`${number.slice(0, 7)}${digit}${number.slice(8)}`), false);
  assert.equal(isCardNumber('0'), false);
});

test('a number has the brand that the page shows while it is typed', () => {
  for (let prefix = 0; prefix < 10_000; prefix += 1) {
    const digits = String(prefix).padStart(4, '0').padEnd(16, '0');
    const shown = brandShown(digits);
    assert.equal(brandOf(digits), shown && en.brands[shown], digits);
  }
  const odd = ['2205', '2220', '2221', '2720', '2721', '8100'].map((four) => brandOf(four));
  assert.deepEqual(odd, [null, null, 'Mastercard', 'Mastercard', null, 'UnionPay']);
});

test('a card is good through the last day of its month anywhere on earth, and not after', () => {
  assert.equal(isGoodUntil('11/26', Temporal.Instant.from('2026-12-01T11:59:59Z')), true);
  assert.equal(isGoodUntil('11/26', Temporal.Instant.from('2026-12-01T12:00:00Z')), false);
  assert.equal(isGoodUntil('13/26', Temporal.Instant.from('2026-01-01T00:00:00Z')), false);
});

test('a mistake names the field and repeats nothing of the card', () => {
  const now = Temporal.Instant.from('2026-11-21T00:00:00Z');
  const mistake = cardMistake({ number: '4111 1111 1111 1112', expiry: '12/30', cvc: '123' }, now);
  assert.match(mistake ?? '', /^card\.number/);
  assert.doesNotMatch(mistake ?? '', /\d{4}/);
  assert.equal(
    cardMistake({ number: '4111 1111 1111 1111', expiry: '12/30', cvc: '123' }, now),
    null,
  );
});

test('a card number in a text is masked however it is grouped, and nothing else is', () => {
  for (const [text, masked] of [
    ['4111111111111111', '****1111'],
    ['order 4111 1111 1111 1111, paid', 'order ****1111, paid'],
    ['ORD-5555-5555-5555-4444/7', 'ORD-****4444/7'],
    ['2026 4111 1111 1111 1111 2026', '2026 ****1111 2026'],
    ['amex 3782 822463 10005.', 'amex ****0005.'],
    ['6200000000000000001 and 2200000000000004', '6200000000000000001 and ****0004'],
    ['card4111111111111111number', 'card****1111number'],
    ['{"n":"4111111111111111"}', '{"n":"****1111"}'],
  ] as const)
    assert.equal(maskCardNumbers(text), masked);
  for (const text of [
    '4111111111111112',
    '0192f0c1-1111-7222-8333-444455556666',
    '41111111-1111-4111-8111-111111111111',
    '40817810900000012345',
    '+79161234567',
    '203.113.100.200:54321',
    '2026-11-22T12:33:14.123Z',
    'ord_1763719200123456789',
    'P-411111',
    '04111111111111111',
  ])
    assert.equal(maskCardNumbers(text), text);
});

test('values are masked at any depth, names of fields, too; what is no text stays', () => {
  const at = Temporal.Instant.from('2026-11-22T00:00:00Z');
  const value = {
    metadata: { '4111111111111111': 'x', card: ['5555 5555 5555 4444'] },
    amount: 4111111111111111n,
    at,
    none: null,
    count: 3,
  };
  assert.deepEqual(maskedDeeply(value), {
    metadata: { '****1111': 'x', card: ['****4444'] },
    amount: 4111111111111111n,
    at,
    none: null,
    count: 3,
  });
  assert.equal(holdsCardNumber('x4111111111111111x'), true);
});

test('a card number behind tens of thousands of digits is found', () => {
  const before = '12 4111 '.repeat(20_000);
  assert.equal(maskCardNumbers(`${before}12 4111 1111 1111 1111`), `${before}12 ****1111`);
});
