/**
 * One poisoned row stops nobody else: what is removed by its age, and registries that are matched.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { forgetBatch, forgetKeys } from '../../subgraphs/kernel/retention/forget-rows.ts';
import { forgetPapers } from '../../subgraphs/kernel/retention/jobs.ts';
import { keysKept_days } from '../../subgraphs/kernel/rules/retention.ts';
import { matchNext } from '../../subgraphs/merchants/reconciliation/match-report.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { poison, setAsideOf } from '../support/poison.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const now = () => Temporal.Now.instant();

test('a key and an alert that cannot be removed are set aside, and all others go', async () => {
  const { pool } = migrated.database;
  const [bad, other] = [randomUUID(), randomUUID()];
  for (const [place, merchantId] of [bad, other, other].entries()) {
    await pool.query(
      `insert into idempotency_key (merchant_id, mode, key, fingerprint, shop_id, resource_id, created_at)
       values ($1, 'test', $2, 'x', $1, $1, now() - $3 * interval '1 day')`,
      [merchantId, `order ${place}`, keysKept_days + 10 - place],
    );
    await pool.query(
      `insert into alert (merchant_id, id, kind, subject_id, detail, raised_at, resolved_at, resolved_by, note)
       values ($1, gen_random_uuid(), 'late_success', $2, 'x', now() - interval '500 days', now() - interval '499 days', 'o', 'x')`,
      [merchantId, String(place)],
    );
  }
  const cures = [
    await poison(pool, 'idempotency_key', 'delete', bad),
    await poison(pool, 'alert', 'delete', bad),
  ];
  const cutoff = now().subtract({ hours: keysKept_days * 24 });
  assert.equal((await forgetBatch(pool, forgetKeys, cutoff, 1_000)).result, 2);
  await forgetPapers({ pool, now, stopping: new AbortController().signal });
  const { rows } = await pool.query(
    `select merchant_id from idempotency_key union all select merchant_id from alert where kind = 'late_success'`,
  );
  assert.deepEqual(rows, [{ merchant_id: bad }, { merchant_id: bad }]);
  const { subjects, alerts } = await setAsideOf(pool, bad);
  assert.deepEqual(alerts, ['forget-alert', 'forget-idempotency_key']);
  assert.ok(
    subjects.every((subject) => !subject.includes('order')),
    'a merchant’s own text is in nobody’s alert',
  );
  for (const cure of cures) await cure();
});

test('a registry that cannot be matched is set aside, and the next one is matched', async () => {
  const { pool } = migrated.database;
  const [bad, good] = [randomUUID(), randomUUID()];
  for (const [place, id] of [bad, good].entries()) {
    await pool.query(
      `insert into reconciliation_run (id, connector, mode, reference, since, until, status, lines, matched, differences, created_at, created_by)
       values ($1, 'x', 'live', $2, now() - interval '1 day', now(), 'ready', 0, 0, 0, now() + $3 * interval '1 second', 'o')`,
      [id, id, place],
    );
  }
  await pool.query(
    `create function poison_run() returns trigger language plpgsql as $$ begin raise exception 'this row is poisoned'; end; $$`,
  );
  await pool.query(
    `create trigger poison_run before update on reconciliation_run for each row when (new.id = '${bad}') execute function poison_run()`,
  );
  assert.equal((await matchNext(pool, now()))?.id, good);
  assert.equal(await matchNext(pool, now()), null);
  const { rows } = await pool.query(
    `select subject_id from set_aside where task = 'match-registries'`,
  );
  assert.deepEqual(rows, [{ subject_id: bad }]);
});
