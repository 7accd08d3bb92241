import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import { issueApiKey, noteKeyUse } from '../../subgraphs/merchants/keys/api-keys.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

test('the last use of a key is written once a minute, however many processes report it', async () => {
  const { pool } = migrated.database;
  const { merchantId, shopId } = await migrated.merchant();
  const start = Temporal.Instant.from('2026-11-21T10:00:00Z');
  const made = await issueApiKey(
    migrated,
    { principal: { kind: 'service', name: 'test' }, requestId: 'test', now: () => start },
    { merchantId, shopId, mode: 'test', name: '', scopes: null, expiresAt: null },
  );
  assert(!isRefusal(made));
  const used = { merchantId, keyId: made.id };
  const note = (seconds: number, keys = [used]): Promise<number> =>
    noteKeyUse(pool, keys, start.add({ seconds }));
  assert.deepEqual(
    [await note(0), await note(1), await note(59), await note(60), await note(61)],
    [1, 0, 0, 1, 0],
  );
  assert.deepEqual(
    await Promise.all([note(200), note(201), note(202)]).then((written) =>
      written.reduce((sum, one) => sum + one),
    ),
    1,
  );
  assert.equal(
    await note(300, [
      { merchantId: shopId, keyId: used.keyId },
      { merchantId: 'x', keyId: 'y' },
    ]),
    0,
  );
});
