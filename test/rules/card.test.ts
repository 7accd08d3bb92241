import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cardMistake, isCardNumber, isGoodUntil } from '../../subgraphs/kernel/rules/card.ts';

test('a card number passes the Luhn check and no neighbour of it does', () => {
  const number = '4111111111111111';
  assert.equal(isCardNumber(number), true);
  for (let digit = 0; digit < 10; digit += 1) if (digit !== 1) assert.equal(isCardNumber(`${number.slice(0, 7)}${digit}${number.slice(8)}`), false);
  assert.equal(isCardNumber('0'), false);
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
  assert.equal(cardMistake({ number: '4111 1111 1111 1111', expiry: '12/30', cvc: '123' }, now), null);
});
