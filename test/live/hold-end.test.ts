import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holdEnd } from '../../subgraphs/acquirers/tbank/holds.ts';

test('a hold at T-Bank ends with its last day in Moscow, of which the day of its order is the first', () => {
  for (const [orderedAt, days, end] of [
    ['2026-03-01T09:00:00Z', 7, '2026-03-07T21:00:00Z'],
    ['2026-03-01T20:59:59Z', 7, '2026-03-07T21:00:00Z'],
    ['2026-03-01T21:00:00Z', 7, '2026-03-08T21:00:00Z'],
    ['2026-12-31T12:00:00Z', 3, '2027-01-02T21:00:00Z'],
  ] as const)
    assert.equal(String(holdEnd(Temporal.Instant.from(orderedAt), days)), end, orderedAt);
});
