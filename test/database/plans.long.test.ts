/**
 * What PostgreSQL plans for each statement of the program on tables with the statistics of ten
 * million payments: none walks one of the large tables, or all rows of a merchant in it. Every
 * statement has one plan, which serves all merchants (docs/decisions.md).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plantOperations } from '../reconciliation/planted-operations.ts';
import { loadProgram, statementsSeen } from './statements.ts';

// Before anything else loads a part of the program.
loadProgram();
const { startMigratedDatabase } = await import('../support/migrated.ts');

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly Plan[];
}

/** Partitions of other months are empty, and read whole. */
const full = /^(?:payment|posting|(?:event|webhook_delivery)_2026_11)$/;

const planted = 100_000;

const walksOf = (plan: Plan): readonly string[] => {
  const { 'Node Type': type, 'Relation Name': table = '', 'Index Cond': condition = '' } = plan;
  const isWalk = type === 'Seq Scan' || /^\(merchant_id = [^)]*\)$/.test(condition);
  const walk = full.test(table) && isWalk ? [`${type} on ${table} ${condition}`] : [];
  return [...walk, ...(plan.Plans ?? []).flatMap(walksOf)];
};

test('no statement walks a large table, or all that one merchant has there', async (t) => {
  const migrated = await startMigratedDatabase();
  t.after(() => migrated.close());
  const { pool } = migrated.database;
  const [large, small] = [await migrated.merchant(), await migrated.merchant()];
  const [since, until] = [
    Temporal.Instant.from('2026-11-01T00:00:00Z'),
    Temporal.Instant.from('2026-11-30T00:00:00Z'),
  ];
  const keys = [...Array.from({ length: 19 }, () => large), small];
  await plantOperations(pool, { keys, payments: planted, since, until });
  await pool.query(`insert into event (merchant_id, id, shop_id, mode, subject_id, stream_kind, payload, webhook_event, webhook_body, sequence, created_at)
    select merchant_id, id, shop_id, mode, id, 'payment.status_changed', '{}', 'payment.succeeded', 'x', row_number() over (), created_at from payment`);
  await pool.query(`insert into webhook_delivery (merchant_id, id, event_id, webhook_event, shop_id, mode, subject_id, lane, url, status, attempts, created_at)
    select merchant_id, id, id, webhook_event, shop_id, mode, id, 'lane', 'u', 'delivered', 1, created_at from event`);
  await pool.query('vacuum (analyze)');
  const { rows: grown } = await pool.query<{ isRestored: boolean }>(
    `select pg_restore_relation_stats('schemaname', relnamespace::regnamespace::text, 'relname', relname::text,
      'relpages', relpages, 'reltuples', (reltuples * $1::int)::real) as "isRestored" from pg_class where relname ~ $2`,
    [10_000_000 / planted, full.source],
  );
  assert.deepEqual(
    grown.map(({ isRestored }) => isRestored),
    [true, true, true, true],
  );
  const expected = await pool.query('explain select from payment');
  assert.match(JSON.stringify(expected.rows), / rows=1\d{7} /);
  const walking: string[] = [];
  const unexplained: string[] = [];
  for (const { name, text } of statementsSeen().statements) {
    const plans = await pool
      .query<{ 'QUERY PLAN': readonly { readonly Plan: Plan }[] }>(
        `explain (generic_plan, format json) ${text}`,
      )
      .catch(() => void unexplained.push(name));
    if (!plans) continue;
    const walks = plans.rows.flatMap((row) => row['QUERY PLAN'].flatMap((q) => walksOf(q.Plan)));
    walking.push(...walks.map((walk) => `${name}: ${walk}`));
  }
  assert.deepEqual(walking, []);
  // They call functions of Citus.
  assert.deepEqual(unexplained, ['database.in_doubt', 'relay.waiting_shards']);
});
