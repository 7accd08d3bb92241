import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openLog, requestIdOf } from '../../subgraphs/platform/tracing/telemetry.ts';
import { leaksIn } from '../support/log-leaks.ts';
import { startTestDatabase } from '../support/database.ts';

describe('the search of all logs', () => {
  const line = (answered: string): string =>
    JSON.stringify({
      level: 40,
      time: '2026-11-21T10:00:00.000Z',
      requestId: '0192f0c1-1111-7222-8333-444455556666',
      msg: answered,
    });
  for (const [what, answered] of [
    ['a card number', 'paid by 4111111111111111'],
    ['a card number in groups', 'order 4111 1111 1111 1111'],
    ['an account number', 'to 40817810900000012345'],
    ['a phone', 'to +79161234567'],
    ['an API key', 'with sk_test_0123456789abcdefghijklmn'],
    ['a secret', 'signed with whs_0123456789abcdef0123456789abcdef'],
    ['a page', 'https://pay.example/pay/0123456789abcdef0123456789'],
    ['a password', 'postgresql://service:hunter2@db/payments'],
    ['a name', 'for Серафима'],
  ] as const)
    test(`finds ${what}`, () => assert.equal(leaksIn(line(answered)).length, 1));

  test('finds a private field, and not one that is redacted', () => {
    assert.equal(leaksIn(JSON.stringify({ card: { cvc: '123' } })).length, 1);
    assert.equal(leaksIn(JSON.stringify({ card: '[redacted]' })).length, 0);
  });

  test('lets ids, moments and numbers be, and what is printed for a person', () => {
    assert.deepEqual(leaksIn(line('payment P-4111111111111111 in 1234567890123456 ns')), []);
    assert.deepEqual(leaksIn('  Test key  sk_test_0123456789abcdefghijklmn'), []);
  });
});

test('a request id that could be a card number is not taken, since request ids are logged', () => {
  for (const id of ['4111111111111111', 'order-4111-1111-1111-1111', 'a.5555555555554444.b'])
    assert.match(requestIdOf(id), /^[0-9a-f]{8}-/, id);
  for (const id of ['0192f0c1-1111-7222-8333-444455556666', '4111111111111112', 'checkout:77'])
    assert.equal(requestIdOf(id), id);
});

test('an error from PostgreSQL is logged without the row that was refused', async () => {
  const database = await startTestDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'payments-log-'));
  const client = new pg.Client({ connectionString: database.url });
  try {
    await client.connect();
    await client.query(
      'create table person (name text not null, phone text check (length(phone) < 5))',
    );
    const thrown: unknown = await client
      .query(`insert into person values ('Theodora Wexcombe', '+79161234567')`)
      .catch((error: unknown) => error);
    assert.match(String((thrown as { detail?: string }).detail), /Theodora/, 'the driver shows it');
    const file = join(folder, 'service.log');
    openLog({ logLevel: 'info' }, 'test', file).info({ err: thrown, error: thrown }, 'refused');
    assert.equal(statSync(file).mode & 0o777, 0o600, 'its owner alone reads it');
    const received = readFileSync(file, 'utf8');
    assert.match(received, /person_phone_check/);
    assert.doesNotMatch(received, /Theodora|79161234567/);
  } finally {
    await client.end();
    await database.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
