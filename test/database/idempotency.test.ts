import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import {
  answerUnderKey,
  claimOf,
  claimPatience_ms,
  createOnce,
  type Created,
} from '../../subgraphs/platform/database/idempotency.ts';
import { forgetBatch, forgetKeys } from '../../subgraphs/platform/retention/forget-rows.ts';
import { keysKept_days } from '../../subgraphs/rules/retention.ts';
import { isRefusal, refuse, type Refusal } from '../../subgraphs/rules/refusal.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { noPolicies } from '../support/no-policies.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import { testPool } from '../support/database.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { eventually } from '../support/eventually.ts';
import { codeOf, granted } from '../support/granted.ts';
import { openGate, repeatWhileAsking } from '../support/slow-answer.ts';

let migrated: MigratedDatabase;
let key: KeyPrincipal;
before(async () => {
  migrated = await startMigratedDatabase();
  key = await migrated.merchant();
  await migrated.database.pool.query(
    'create table thing (id uuid primary key, name text not null)',
  );
});
after(() => migrated.close());

const now = Temporal.Instant.from('2026-11-21T10:00:00Z');
interface Thing {
  readonly id: string;
  readonly name: string;
}

const find = async (id: string): Promise<Thing | null> => {
  const { rows } = await migrated.database.pool.query<Thing>(
    'select id, name from thing where id = $1',
    [id],
  );
  return rows[0] ?? null;
};

/** An operation of several statements: it inserts a thing, and may refuse after that. */
const create = (
  idempotencyKey: string | null,
  name: string,
  refuses = false,
): Promise<Created<Thing> | Refusal> => {
  const resourceId = randomUUID();
  const claim =
    idempotencyKey === null
      ? null
      : { key: idempotencyKey, fingerprint: name, request: 'POST /things', asksLater: false };
  return createOnce(
    migrated.database.pool,
    { caller: key, claim, find, resourceId, at: now },
    async (client) => {
      await client.query('insert into thing (id, name) values ($1, $2)', [resourceId, name]);
      return refuses ? refuse('insufficient_balance', 'not today') : { id: resourceId, name };
    },
  );
};

const count = async (name: string): Promise<number> =>
  (await migrated.database.pool.query('select 1 from thing where name = $1', [name])).rows.length;

/** Another call with this key that has made its row and has not committed. */
const holdKey = async (name: string, resourceId: string = randomUUID()): Promise<pg.PoolClient> => {
  const client = await migrated.database.pool.connect();
  await client.query('begin');
  const row = [key.merchantId, key.mode, name, 'fingerprint', key.shopId, resourceId];
  await client.query(
    "insert into idempotency_key values ($1, $2, $3, $4, $5, $6, now(), 'request')",
    row,
  );
  return client;
};

/** Whether a session of this database waits for a lock. */
const isWaiting = async (): Promise<boolean> =>
  (
    await migrated.database.pool.query(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
  ).rows.length > 0;

test('fifty equal calls of an operation of several statements make one thing and forty-nine replays of it', async () => {
  const results = (
    await Promise.all(Array.from({ length: 50 }, () => create('fifty', 'fifty')))
  ).map(granted);
  assert.equal(new Set(results.map(({ made }) => made.id)).size, 1);
  assert.equal(results.filter(({ replayed }) => !replayed).length, 1);
  assert.equal(await count('fifty'), 1);
});

test('a refused call leaves neither the thing nor the claim behind, and its key is free', async () => {
  assert.equal(codeOf(await create('refused', 'first', true)), 'insufficient_balance');
  assert.equal(await count('first'), 0);
  const second = await create('refused', 'second');
  assert.ok(!isRefusal(second) && !second.replayed);
});

test('a key that was used for something else is a conflict, whether the request or the operation was another', async () => {
  await create('used', 'one');
  const other = await create('used', 'two');
  assert.equal(codeOf(other), 'idempotent_conflict');
  assert.match(
    isRefusal(other) ? other.message : '',
    /: POST \/things at 2026-11-21T10:00:00\.000Z$/,
  );
  const payment = await recordPayment(
    migrated.database,
    noPolicies,
    key,
    { input: { amount: 1n }, idempotency: { key: 'used', fingerprint: 'one' } },
    now,
  );
  assert.equal(
    codeOf(payment),
    'idempotent_conflict',
    'the same fingerprint, but it names a thing and no payment',
  );
});

test('without a key every call makes its own', async () => {
  await Promise.all([create(null, 'keyless'), create(null, 'keyless')]);
  assert.equal(await count('keyless'), 2);
});

test('while the first call runs an equal one waits five seconds and is then refused, in both forms', async () => {
  const holder = await holdKey('held');
  const began = performance.now();
  const pay = () =>
    recordPayment(
      migrated.database,
      noPolicies,
      key,
      { input: { amount: 1n }, idempotency: { key: 'held', fingerprint: 'fingerprint' } },
      now,
    );
  const results = await Promise.all([create('held', 'fingerprint'), pay()]);
  const waited_ms = performance.now() - began;
  await holder.query('rollback');
  holder.release();
  assert.deepEqual(results.map(codeOf), ['idempotent_in_progress', 'idempotent_in_progress']);
  assert.ok(waited_ms >= claimPatience_ms, `${waited_ms} ms`);
  const paid = await pay();
  assert.ok(!isRefusal(paid) && !paid.replayed, 'the first call came to nothing: its key is free');
});

test('a call that waits is a replay as soon as the first one commits, and the first of its own when that rolls back', async () => {
  const first = granted(
    await recordPayment(migrated.database, noPolicies, key, { input: { amount: 1n } }, now),
  );
  const after: Record<string, boolean> = {};
  for (const end of ['commit', 'rollback'] as const) {
    const holder = await holdKey(end, first.payment.id);
    const waiting = recordPayment(
      migrated.database,
      noPolicies,
      key,
      { input: { amount: 1n }, idempotency: { key: end, fingerprint: 'fingerprint' } },
      now,
    );
    await eventually(isWaiting, 'a call that waits for the key');
    await holder.query(end);
    holder.release();
    const { payment, replayed } = granted(await waiting);
    assert.equal(payment.id === first.payment.id, replayed);
    after[end] = replayed;
  }
  assert.deepEqual(after, { commit: true, rollback: false });
});

/** A call that asks a bank for its answer after its transaction. */
const askLater = async (
  idempotencyKey: string,
  ask: () => Promise<Thing | Refusal>,
): Promise<Created<Thing> | Refusal> => {
  const { pool } = migrated.database;
  const resourceId = randomUUID();
  const claim = {
    key: idempotencyKey,
    fingerprint: 'asked',
    request: 'POST /things',
    asksLater: true,
  };
  const claimed = { caller: key, claim, resourceId };
  const created = await createOnce(pool, { ...claimed, find, at: now }, async (client) => {
    await client.query('insert into thing (id, name) values ($1, $2)', [resourceId, 'unasked']);
    return { id: resourceId, name: 'unasked' };
  });
  if (isRefusal(created) || created.replayed) return created;
  const made = await answerUnderKey(pool, claimed, async () => {
    const answer = await ask();
    const name = isRefusal(answer) ? 'refused' : answer.name;
    await pool.query('update thing set name = $2 where id = $1', [resourceId, name]);
    return answer;
  });
  return isRefusal(made) ? made : { made: { ...made, id: resourceId }, replayed: false };
};

test('while the first call asks its bank, an equal one waits for the answer, and is refused after five seconds', async () => {
  const gate = openGate();
  const call = () =>
    askLater('asks', async () => {
      await gate.pass();
      return { id: '', name: 'answered' };
    });
  const first = call();
  await gate.reached;
  const [began, impatient] = [performance.now(), call()];
  assert.equal(codeOf(await impatient), 'idempotent_in_progress');
  assert.ok(performance.now() - began >= claimPatience_ms, 'it still asks, however long it takes');
  assert.equal(codeOf(await create('asks', 'other')), 'idempotent_conflict');
  const answers = (await repeatWhileAsking(migrated.database.pool, gate, call)).map(granted);
  assert.deepEqual(
    [granted(await first), ...answers].map(({ made, replayed }) => [made.name, replayed]),
    [['answered', false], ...answers.map(() => ['answered', true])],
  );
});

test('what the bank refuses frees the key for a call that waits; a call that failed or died delays no other', async () => {
  const gate = openGate();
  let asked = 0;
  const refusedOnce = () =>
    askLater('refused later', async () => {
      asked += 1;
      if (asked > 1) return { id: '', name: 'second' };
      await gate.pass();
      return refuse('insufficient_balance', 'not today');
    });
  const [first, ...others] = await repeatWhileAsking(migrated.database.pool, gate, refusedOnce);
  assert.equal(codeOf(first ?? {}), 'insufficient_balance');
  const made = others.map(granted);
  assert.deepEqual(new Set(made.map((one) => one.made.name)), new Set(['second']));
  assert.deepEqual([made.filter(({ replayed }) => !replayed).length, asked], [1, 2]);
  const failed = askLater('failed', () => Promise.reject(new Error('no bank')));
  await assert.rejects(failed, /no bank/);
  const unanswered = async (idempotencyKey: string) =>
    granted(await askLater(idempotencyKey, () => Promise.reject(new Error('asked again'))));
  assert.equal((await unanswered('failed')).made.name, 'unasked');
  // What a process that died a moment ago has left.
  await migrated.database.pool.query(
    `update idempotency_key set asking_until = clock_timestamp() + interval '50 milliseconds' where key = 'failed'`,
  );
  assert.equal((await unanswered('failed')).replayed, true);
});

test('the patience of a claim ends with its transaction: the connection is as it was', async () => {
  await create('patience', 'patience');
  const clients = await Promise.all(
    Array.from({ length: testPool }, () => migrated.database.pool.connect()),
  );
  const settings = await Promise.all(
    clients.map((client) => client.query<{ lock_timeout: string }>('show lock_timeout')),
  );
  for (const client of clients) client.release();
  assert.deepEqual(new Set(settings.map(({ rows }) => rows[0]?.lock_timeout)), new Set(['0']));
});

test('keys are forgotten after thirty days, oldest first and in batches, and not a millisecond before', async () => {
  const { pool } = migrated.database;
  const other = await migrated.merchant();
  const at = (days: number) => now.add({ hours: days * 24 });
  for (let index = 0; index < 5; index += 1) {
    const made = await recordPayment(
      migrated.database,
      noPolicies,
      other,
      { input: { amount: 1n }, idempotency: { key: `old ${index}` } },
      at(-1),
    );
    assert.ok(!isRefusal(made));
  }
  await recordPayment(
    migrated.database,
    noPolicies,
    other,
    { input: { amount: 1n }, idempotency: { key: 'young' } },
    now,
  );
  const left = async (): Promise<string[]> =>
    (
      await pool.query<{ key: string }>(
        'select key from idempotency_key where merchant_id = $1 order by key',
        [other.merchantId],
      )
    ).rows.map((row) => row.key);
  const forget = async (now: Temporal.Instant, max_rows: number): Promise<number> => {
    const cutoff = now.subtract({ hours: keysKept_days * 24 });
    return (await forgetBatch(pool, forgetKeys, cutoff, max_rows)).result;
  };
  assert.equal(await forget(at(keysKept_days - 1), 2), 0);
  const later = at(keysKept_days - 1).add({ milliseconds: 1 });
  assert.deepEqual(
    [await forget(later, 3), await forget(later, 3), await forget(later, 3)],
    [3, 2, 0],
  );
  assert.deepEqual(await left(), ['young']);
  const again = await recordPayment(
    migrated.database,
    noPolicies,
    other,
    { input: { amount: 1n }, idempotency: { key: 'old 0' } },
    later,
  );
  assert.ok(!isRefusal(again) && !again.replayed);
});

test('a key of a shop whose test clock stands in the past is kept while the clock is there', async () => {
  const { database } = migrated;
  const shop = await migrated.merchant();
  const clock = now.subtract({ hours: 24 * 2 * keysKept_days });
  await database.pool.query(
    `insert into test_clock (merchant_id, shop_id, clock_at, set_at, frozen, created_at) values ($1, $2, $3, $4, true, $4)`,
    [shop.merchantId, shop.shopId, clock.toString(), now.toString()],
  );
  const pay = async () => {
    const request = { input: { amount: 1n }, idempotency: { key: 'of the past' } };
    return granted(await recordPayment(database, noPolicies, shop, request, clock));
  };
  const first = await pay();
  await forgetBatch(database.pool, forgetKeys, now.subtract({ hours: keysKept_days * 24 }), 1_000);
  const again = await pay();
  assert.deepEqual([again.payment.id, again.replayed], [first.payment.id, true]);
});

test('a key is 1 to 64 printable ASCII characters, whichever way it came', () => {
  const code = (text: string): string => codeOf(claimOf({ key: text }, 'paymentCreate', {}) ?? {});
  for (const fine of ['k', 'x'.repeat(64), 'a b,"c"~'])
    assert.equal(code(fine), 'not refused', fine);
  for (const wrong of ['', 'x'.repeat(65), 'ключ', 'a\0b', 'a\tb', '\ud800'])
    assert.equal(code(wrong), 'bad_request', JSON.stringify(wrong));
});
