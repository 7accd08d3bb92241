import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBreaker } from '../../subgraphs/acquirers/bank-http.ts';

test('ten calls in a row without an answer withhold the next ones, except one trial after each pause; the first answer lets all through', () => {
  let now_ms = 0;
  const breaker = openBreaker(() => now_ms);
  for (let call = 0; call < 10; call++) {
    assert.ok(breaker.lets(), `call ${call}`);
    breaker.note(false);
  }
  assert.deepEqual([breaker.isOpen(), breaker.lets()], [true, false]);
  now_ms = 5_000;
  assert.deepEqual([breaker.lets(), breaker.lets()], [true, false], 'one trial');
  breaker.note(false);
  assert.equal(breaker.lets(), false);
  now_ms = 10_000;
  assert.ok(breaker.lets());
  breaker.note(true);
  assert.deepEqual([breaker.isOpen(), breaker.lets(), breaker.lets()], [false, true, true]);
});

test('an answer between failures begins the count anew', () => {
  const breaker = openBreaker(() => 0);
  for (let round = 0; round < 3; round++) {
    for (let call = 0; call < 9; call++) breaker.note(false);
    breaker.note(true);
  }
  assert.ok(!breaker.isOpen());
});
