/**
 * Matches a settlement report with our operations in steps. Each step is a short transaction that
 * stores its progress, so a crash repeats one step, and a step does not grow with the report or the
 * history. First the lines' merchants are found, then each merchant's operations are compared, then
 * missing operations are searched for.
 */
import type pg from 'pg';
import { raiseAlert } from '../../kernel/alerts/raise-alert.ts';
import { notSetAsideOfPlatform, workBatch, type Subject } from '../../kernel/alerts/set-aside.ts';
import { reportedKinds } from '../../kernel/banks/settlement-bank.ts';
import { noteListChange } from '../../kernel/database/list-changes.ts';
import {
  columns,
  inTransaction,
  propertyNames,
  run,
  type Statement,
} from '../../kernel/database/statement.ts';
import { platformMerchantId } from '../../kernel/rules/platform.ts';
import { compareOwned, compareStrangers, type Step } from './compare-lines.ts';
import { ReconciliationRunEntity, type ReconciliationRun } from './entities.ts';
import { findMissing, missingFrom } from './find-missing.ts';
import { findOwners, ownersFrom, probeOwners } from './find-owners.ts';

const runColumns = columns(propertyNames(ReconciliationRunEntity));

/** The task for runs that cannot be matched and are set aside. A run belongs to the platform. */
const task = 'match-registries';
const notAside = notSetAsideOfPlatform(task, 'reconciliation_run.id::text');
const ofReady = `from reconciliation_run where status = 'ready' and ${notAside}`;
/** SQL: whether a run is ready to be matched. */
export const isMatchDue = `exists (select 1 ${ofReady})`;

const oldestReady: Statement = {
  name: 'reconciliation.oldest_ready',
  text: `select '${platformMerchantId}' as "merchantId", id::text as "subjectId" ${ofReady} order by created_at limit 1`,
};
const takeReady: Statement = {
  name: 'reconciliation.take_ready',
  text: `select ${runColumns} ${ofReady} order by created_at limit 1 for update skip locked`,
};
const keep: Statement = {
  name: 'reconciliation.keep_progress',
  text: `update reconciliation_run set matched = matched + $2, differences = differences + $3, progress = $4 where id = $1 returning ${runColumns}`,
};
const finish: Statement = {
  name: 'reconciliation.finish',
  text: `update reconciliation_run set status = 'matched', progress = null, matched_at = $2, looked_since = $3, looked_until = $4
    where id = $1 returning ${runColumns}`,
};

const alertOf = (
  client: pg.PoolClient,
  { id, connector, mode, reference }: ReconciliationRun,
  differences: number,
  at: Temporal.Instant,
) =>
  raiseAlert(client, {
    kind: 'reconciliation_difference',
    merchantId: null,
    shopId: null,
    mode,
    subjectId: id,
    detail: `the report ${reference} of ${connector} has ${differences} differences`,
    at,
  });

const nothing = { matched: 0, differences: 0 };

/** Performs the next step of a run. */
const stepOf = async (
  client: pg.PoolClient,
  ready: ReconciliationRun,
  now: Temporal.Instant,
): Promise<Step> => {
  const progress = ready.progress ?? ownersFrom(ready, reportedKinds[0]);
  switch (progress.phase) {
    case 'owners':
      return { ...nothing, next: await findOwners(client, ready, progress) };
    case 'probe':
      return { ...nothing, next: await probeOwners(client, ready, progress.after) };
    case 'compare':
      return compareOwned(client, ready, progress, now);
    case 'strangers': {
      const { next, ...counts } = await compareStrangers(client, ready, progress.after, now);
      return {
        ...counts,
        next: next ? { phase: 'strangers', after: next } : await missingFrom(client, ready, now),
      };
    }
    case 'missing':
      return findMissing(client, ready, progress, now);
  }
};

/** Performs one step of the oldest ready run; null when none is ready. */
export const matchStep = (
  pool: pg.Pool,
  now: Temporal.Instant,
): Promise<ReconciliationRun | null> =>
  inTransaction(pool, async (client) => {
    const [ready] = await run<ReconciliationRun>(client, takeReady, []);
    if (!ready) return null;
    // New rows have no statistics: the planner would expect a few report lines and choose a full
    // scan of our operations.
    await client.query(`select set_config('enable_seqscan', 'off', true)`);
    const { matched, differences, next } = await stepOf(client, ready, now);
    const progress = next === 'done' ? null : JSON.stringify(next);
    const [kept] = await run<ReconciliationRun>(client, keep, [
      ready.id,
      matched,
      differences,
      progress,
    ]);
    noteListChange(client, { list: 'reconciliation_differences', merchantId: null });
    if (!kept || next !== 'done') return kept ?? null;
    if (kept.differences > 0) await alertOf(client, kept, kept.differences, now);
    const looked = ready.progress?.phase === 'missing' ? ready.progress : null;
    const span = [looked?.lookedSince ?? null, looked?.lookedUntil ?? null];
    return (await run<ReconciliationRun>(client, finish, [ready.id, now, ...span]))[0] ?? null;
  });

/**
 * Matches the oldest ready run step by step, and alerts when it has differences; null when none is
 * ready or `stopping` is aborted. A crash repeats one step. A run that cannot be matched is set
 * aside, and the next one is matched.
 */
export const matchNext = async (
  pool: pg.Pool,
  now: Temporal.Instant,
  stopping?: AbortSignal,
): Promise<ReconciliationRun | null> => {
  const first = async () => (await run<Subject>(pool, oldestReady, []))[0] ?? null;
  for (;;) {
    if (stopping?.aborted) return null;
    const { result } = await workBatch(pool, {
      task,
      limit: 1,
      work: () => matchStep(pool, now),
      first,
    });
    if (!result || result.status === 'matched') return result;
  }
};
