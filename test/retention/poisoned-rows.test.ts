/**
 * One poisoned row does not stop the others: what is removed by its age, and registries that are matched.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import {
  forgetBatch,
  forgetKeys,
  forgetTraces,
} from '../../subgraphs/platform/retention/forget-rows.ts';
import { forgetReports } from '../../subgraphs/platform/retention/jobs.ts';
import { platformMerchantId } from '../../subgraphs/rules/ids.ts';
import {
  keysKept_days,
  registriesKept_days,
  tracesKept_days,
} from '../../subgraphs/rules/retention.ts';
import { matchNext } from '../../subgraphs/merchants/reconciliation/match-report.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { retryDeadLetters, poison, poisonRow, deadLettersOf } from '../support/poison.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const now = () => Temporal.Now.instant();

test('a key and an alert that cannot be removed are set aside, and all others go', async () => {
  const { pool } = migrated.database;
  const [bad, other] = [randomUUID(), randomUUID()];
  for (const [place, merchantId] of [bad, other, other].entries()) {
    await pool.query(
      `insert into idempotency_key (merchant_id, mode, key, fingerprint, shop_id, resource_id, created_at, request)
       values ($1, 'test', $2, 'x', $1, $1, now() - $3 * interval '1 day', 'r')`,
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
  await forgetReports({ pool, now, stopping: new AbortController().signal });
  const { rows } = await pool.query(
    `select merchant_id from idempotency_key union all select merchant_id from alert where kind = 'late_success'`,
  );
  assert.deepEqual(rows, [{ merchant_id: bad }, { merchant_id: bad }]);
  const { subjects, alerts } = await deadLettersOf(pool, bad);
  assert.deepEqual(alerts, ['forget-alert', 'forget-idempotency_key']);
  assert.ok(
    subjects.every((subject) => !subject.includes('order')),
    'a merchant’s own text is in no alert',
  );
  for (const cure of cures) await cure();
});

test('a line of a registry that cannot be removed is set aside, and all others go', async () => {
  const { pool } = migrated.database;
  const [older, newer] = [randomUUID(), randomUUID()];
  for (const [place, run] of [older, newer].entries()) {
    await pool.query(
      `insert into reconciliation_run (id, connector, mode, reference, since, until, status, lines, matched, differences, created_at, created_by)
       values ($1, 'x', 'live', $2, now() - interval '1 day', now(), 'matched', 3, 3, 0, now() - $3 * interval '1 day', 'o')`,
      [run, run, registriesKept_days + 10 - place],
    );
    await pool.query(
      `insert into reconciliation_line (run_id, part, line, reference, kind, amount, currency, status, at)
       select $1, 1, line, line::text, 'payment', 100, 'RUB', 'succeeded', now() from generate_series(1, 3) as line`,
      [run],
    );
  }
  const cure = await poisonRow(pool, 'reconciliation_line', 'delete', { run_id: older, line: 2 });
  const forget = () => forgetReports({ pool, now, stopping: new AbortController().signal });
  await forget();
  const left = async () => (await pool.query('select run_id, line from reconciliation_line')).rows;
  assert.deepEqual(await left(), [{ run_id: older, line: 2 }]);
  const task = 'forget-reconciliation_line';
  const { subjects, alerts } = await deadLettersOf(pool, platformMerchantId);
  assert.deepEqual(subjects, [`${task} ${older}/1/2`]);
  assert.deepEqual(alerts, [task]);
  await cure();
  await retryDeadLetters(pool);
  await forget();
  assert.deepEqual(await left(), [], 'it is tried again by itself');
});

test('a trace that cannot be removed is set aside, and all others go', async () => {
  const { pool } = migrated.database;
  const [bad, other] = [randomUUID(), randomUUID()];
  for (const [place, merchantId] of [bad, other, other].entries()) {
    await pool.query(
      `insert into subject_trace (merchant_id, subject_id, traceparent, created_at)
       values ($1, gen_random_uuid(), 'x', now() - $2 * interval '1 day')`,
      [merchantId, tracesKept_days + 10 - place],
    );
  }
  const forget = async () => {
    const cutoff = now().subtract({ hours: tracesKept_days * 24 });
    return (await forgetBatch(pool, forgetTraces, cutoff, 1_000)).result;
  };
  const cure = await poison(pool, 'subject_trace', 'delete', bad);
  assert.equal(await forget(), 2);
  const { rows } = await pool.query('select merchant_id from subject_trace');
  assert.deepEqual(rows, [{ merchant_id: bad }]);
  assert.deepEqual((await deadLettersOf(pool, bad)).alerts, ['forget-subject_trace']);
  await cure();
  await retryDeadLetters(pool);
  assert.equal(await forget(), 1, 'it is tried again by itself');
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
  await poisonRow(pool, 'reconciliation_run', 'update', { id: bad });
  assert.equal((await matchNext(migrated.database, now()))?.id, good);
  assert.equal(await matchNext(migrated.database, now()), null);
  const { rows } = await pool.query(
    `select subject_id from dead_letter where task = 'match-registries'`,
  );
  assert.deepEqual(rows, [{ subject_id: bad }]);
});
