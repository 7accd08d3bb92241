import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { cursorOf, positionOf, spanOf } from '../../subgraphs/platform/database/keyset.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';

const filters = ['payment', null];
const row = {
  createdAt: Temporal.Instant.from('2026-11-21T09:00:00.123Z'),
  id: '0f0e0d0c-0000-4000-8000-000000000001',
};
const cursor = cursorOf(row, filters);

const written = (parts: readonly unknown[]): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64url');

const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 12);

/** A cursor with another position, whose digest its maker has worked out anew. */
const forged = (at: unknown, id: string = row.id): string =>
  written([at, id, digestOf([at, id, filters])]);

const refusesCursor = (text: string, of: unknown = filters): boolean => {
  const position = positionOf(text, of);
  return position !== null && isRefusal(position);
};

test('a cursor leads back to its row', () => {
  assert.deepEqual(positionOf(cursor, filters), row);
  assert.deepEqual(positionOf(forged(row.createdAt.epochMilliseconds), filters), row);
});

test('a cursor of other filters, a shorter one and a longer one are refused', () => {
  assert.ok(refusesCursor(cursor, ['payment', 'pending']));
  for (const damaged of [
    cursor.slice(0, -1),
    `${cursor}x`,
    `${cursor}=`,
    ` ${cursor}`,
    `${cursor}\n`,
    'x',
    '',
  ])
    assert.ok(refusesCursor(damaged), JSON.stringify(damaged));
});

test('a cursor whose moment or id was changed is refused', () => {
  const [at_ms, id, digest] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
  assert.equal(written([at_ms, id, digest]), cursor);
  for (const parts of [
    [Number(at_ms) - 1, id, digest],
    [Number(at_ms) * 10, id, digest],
    [at_ms, '0f0e0d0c-0000-4000-8000-000000000002', digest],
  ])
    assert.ok(refusesCursor(written(parts)), JSON.stringify(parts));
  const damaged = Array.from({ length: cursor.length }, (_, index) => {
    const other = cursor[index] === 'A' ? 'B' : 'A';
    return `${cursor.slice(0, index)}${other}${cursor.slice(index + 1)}`;
  });
  for (const text of damaged) assert.ok(refusesCursor(text), text);
});

test('a cursor whose moment no record can hold is refused instead of failing in the database', () => {
  for (const at of [
    8.64e15 - 1,
    -8.64e15,
    253_402_300_800_000,
    -62_135_596_800_001,
    1.5,
    '1',
    null,
  ])
    assert.ok(refusesCursor(forged(at)), String(at));
});

test('a day that does not exist or has no end in four-digit years is refused', () => {
  const refusesDay = (text: string): boolean =>
    isRefusal(spanOf(text, null)) && isRefusal(spanOf(null, text));
  for (const text of [
    '',
    '2026-02-30',
    '2026-2-3',
    '0000-01-01',
    '10000-01-01',
    '2026-11-21T00:00:00Z',
  ])
    assert.ok(refusesDay(text), text);
  assert.ok(!isRefusal(spanOf('0001-01-01', '9998-12-31')));
  assert.deepEqual(spanOf(null, '9999-12-31'), { since: null, until: null });
});
