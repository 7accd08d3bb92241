/** Long registries are uploaded in parts. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { type RegistryLine, partsOf } from '../../console/src/reconciliation/read-registry.ts';

const header = 'reference,operation_id,kind,amount,currency,status,at,fee';
const lineOf = (index: number): string =>
  `unknown-${index},,payment,${1_000 + index},RUB,succeeded,2001-01-01T12:00:00Z,`;

test('a registry is cut into parts that a request holds, each with the header, and loses no line', () => {
  const lines = Array.from({ length: 3_000 }, (_, index): RegistryLine => ({
    reference: `unknown-${index}`,
    operationId: '',
    kind: 'payment',
    amount: String(1_000 + index),
    currency: 'RUB',
    status: 'succeeded',
    at: '2001-01-01T12:00:00Z',
    fee: '',
  }));
  const parts = partsOf(lines);
  assert.ok(parts.length > 2);
  for (const part of parts) {
    assert.ok(part.startsWith(`${header}\n`));
    assert.ok(Buffer.byteLength(part) < 256 * 1_024);
  }
  assert.deepEqual(
    parts.flatMap((part) => part.split('\n').slice(1)),
    lines.map((_, index) => lineOf(index)),
  );
  assert.deepEqual(partsOf([]), []);
});
