/**
 * A settlement report among many operations: what its matching costs follows the report and its
 * days, not what was ever written, and a match that is cut short continues.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { inTransaction } from '../../subgraphs/platform/database/statement.ts';
import { matchNext, matchStep } from '../../subgraphs/merchants/reconciliation/match-report.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { plantOperations, plantReport } from './planted-operations.ts';

const payments = 30_000;
const days = 30;
const first = Temporal.Instant.from('2026-09-01T00:00:00Z');
const dayOf = (day: number) => first.add({ hours: 24 * day });
const afterwards = dayOf(days + 3);
/** Of one day: of each ten payments one has a refund, and there is one payout. */
const lines = (payments / days) * 1.2;

let migrated: MigratedDatabase;
let pool: pg.Pool;
before(async () => {
  migrated = await startMigratedDatabase();
  ({ pool } = migrated.database);
  const keys = [];
  for (let made = 0; made < 4; made += 1) keys.push(await migrated.merchant());
  await plantOperations(pool, { keys, payments, since: first, until: dayOf(days) });
});
after(() => migrated.close());

interface Sent {
  readonly text: string;
  readonly values: unknown[];
}

/** The statements with values that connections send from now on, once they are taken out. */
const watchStatements = (): readonly Sent[] => {
  const sent: Sent[] = [];
  const known = new WeakSet<pg.PoolClient>();
  pool.on('acquire', (client) => {
    if (known.has(client)) return;
    known.add(client);
    const send = client.query.bind(client);
    client.query = ((...given: Parameters<typeof send>) => {
      const [statement] = given as unknown as readonly [Partial<Sent> | string];
      if (typeof statement !== 'string' && statement.text && statement.values)
        sent.push({ text: statement.text, values: statement.values });
      return send(...given);
    }) as typeof client.query;
  });
  return sent;
};

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

const nodesOf = (node: PlanNode): readonly PlanNode[] => [
  node,
  ...(node.Plans ?? []).flatMap(nodesOf),
];
const rowsOf = (node: PlanNode): number =>
  (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];

const large = ['payment', 'refund', 'payout', 'posting'];

/** How the large tables are read by a statement, with the setting of the match's transactions. */
const readsOf = ({ text, values }: Sent): Promise<readonly PlanNode[]> =>
  inTransaction(
    pool,
    async (client) => {
      await client.query('set local enable_seqscan = off');
      const { rows } = await client.query<{ 'QUERY PLAN': readonly { Plan: PlanNode }[] }>(
        `explain (analyze, format json) ${text}`,
        values,
      );
      const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
      assert.ok(plan, text);
      return nodesOf(plan).filter((node) => large.includes(node['Relation Name'] ?? ''));
    },
    () => false,
  );

test('no statement of a match reads a large table as a whole, or more of it than a batch', async () => {
  const id = await plantReport(pool, dayOf(28), dayOf(29));
  // An unknown one, so that it is looked for everywhere.
  await pool.query(
    `insert into reconciliation_line (run_id, part, line, reference, operation_id, kind, amount, currency, status, at)
     select $1, 2, n, 'nobody''s', case n when 1 then gen_random_uuid() end, 'payment', 5, 'RUB', 'succeeded', now() from generate_series(1, 2) as n`,
    [id],
  );
  const sent = watchStatements();
  const matched = await matchNext(migrated.database, afterwards);
  assert.deepEqual([matched?.id, matched?.matched, matched?.differences], [id, lines, 2]);
  const [seen, reading] = [
    new Set<string>(),
    sent.filter(({ text }) => large.some((table) => text.includes(table))),
  ];
  for (const statement of reading) {
    for (const node of await readsOf(statement)) {
      seen.add(node['Relation Name'] ?? '');
      assert.notEqual(node['Node Type'], 'Seq Scan', statement.text);
      assert.ok(rowsOf(node) <= 10_000, `${rowsOf(node)} rows: ${statement.text}`);
    }
  }
  assert.deepEqual(seen, new Set(large), 'the statements that were looked at');
});

/** The differences of a run, as they are counted. */
const differencesOf = async (id: string) =>
  (
    await pool.query<{ kind: string; count: number }>(
      'select kind, count(*)::int as count from reconciliation_difference where run_id = $1 group by 1 order by 1',
      [id],
    )
  ).rows.map(({ kind, count }) => `${kind} ${count}`);

test('a match that is cut short after any step continues there, also in two processes at once', async () => {
  const id = await plantReport(pool, dayOf(10), dayOf(16));
  await pool.query(
    `update reconciliation_line set amount = amount + 1 where run_id = $1 and line % 100 = 1`,
    [id],
  );
  const absent = await pool.query(
    `delete from reconciliation_line where run_id = $1 and line % 100 = 2`,
    [id],
  );
  await pool.query(
    `insert into reconciliation_line (run_id, part, line, reference, operation_id, kind, amount, currency, status, at)
     select run_id, 2, line, reference, operation_id, kind, amount, currency, status, at from reconciliation_line where run_id = $1 and line % 100 = 3`,
    [id],
  );
  const wrong = Math.ceil((6 * lines) / 100);
  assert.equal(absent.rowCount, wrong);
  const places: string[] = [];
  for (let steps = 0; steps < 4; steps += 1) {
    const taken = await matchStep(migrated.database, afterwards);
    assert.equal(taken?.status, 'ready');
    places.push(JSON.stringify(taken.progress));
  }
  assert.equal(new Set(places).size, places.length, 'each step comes further');
  // Steps that fail leave no trace.
  await pool.query(
    'alter table reconciliation_run add constraint cut_short check (matched < 2000) not valid',
  );
  while ((await matchStep(migrated.database, afterwards).catch(() => null)) !== null);
  await pool.query('alter table reconciliation_run drop constraint cut_short');
  const ended = await Promise.all([
    matchNext(migrated.database, afterwards),
    matchNext(migrated.database, afterwards),
  ]);
  assert.deepEqual(
    ended.flatMap((run) => (run ? [run.id] : [])),
    [id],
  );
  assert.deepEqual(await differencesOf(id), [
    `amount_differs ${wrong}`,
    `duplicate ${wrong}`,
    `missing_at_bank ${wrong}`,
  ]);
  const { rows } = await pool.query(
    'select matched, differences, progress from reconciliation_run where id = $1',
    [id],
  );
  assert.deepEqual(rows, [
    { matched: 6 * lines - 2 * wrong, differences: 3 * wrong, progress: null },
  ]);
});

test('a day that a run has looked at is not looked at again, one that none has is', async () => {
  // As if no report had ever had the six days of the run before.
  await pool.query('delete from reconciliation_line where matched_id is not null');
  await pool.query('delete from reconciliation_difference');
  const next = await plantReport(pool, dayOf(16), dayOf(17));
  const matched = await matchNext(migrated.database, afterwards);
  assert.deepEqual([matched?.id, matched?.differences], [next, 0]);
  // An empty report of two days, of which one was looked at: all of the other is missing.
  const empty = randomUUID();
  await pool.query(
    `insert into reconciliation_run (id, connector, mode, reference, since, until, status, lines, matched, differences, created_at, created_by)
     values ($1, 'simulator', 'test', 'empty', $2, $3, 'ready', 0, 0, 0, now(), 'test')`,
    [empty, dayOf(9).toString(), dayOf(11).toString()],
  );
  await matchNext(migrated.database, afterwards);
  assert.deepEqual(await differencesOf(empty), [`missing_at_bank ${lines}`]);
});
