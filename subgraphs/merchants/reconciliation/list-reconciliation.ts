/** Reconciliation as operators see it: the runs, their differences, and what became of one. */
import {
  behindCursor,
  newestFirst,
  readPage,
  type Page,
  type PageQuery,
} from '../../kernel/database/page.ts';
import { isUuid } from '../../kernel/rules/uuid.ts';
import type { Database } from '../../kernel/database/orm.ts';
import {
  columns,
  propertyNames,
  run,
  type Runner,
  type Statement,
} from '../../kernel/database/statement.ts';
import { platformMerchantId } from '../../kernel/rules/platform.ts';
import { refused, type Refused } from '../../kernel/rules/refusal.ts';
import { actorOf, changeWithAudit, type Acting } from '../../kernel/database/audit.ts';
import { reasonMistake } from '../policies/change-policy.ts';
import {
  ReconciliationDifferenceEntity,
  type DifferenceKind,
  type ReconciliationDifference,
  type ReconciliationRun,
} from './entities.ts';
import { runColumns } from './upload-report.ts';

const differenceColumns = columns(propertyNames(ReconciliationDifferenceEntity));

const runsPage: Statement = {
  name: 'reconciliation.runs',
  text: `select ${runColumns} from reconciliation_run where ($4::text is null or connector = $4) and ${behindCursor('created_at', 'id')}
    ${newestFirst('created_at', 'id')}`,
};

/** A page of runs, newest first, of one connector when it is named. */
export const listRuns = (
  runner: Runner,
  { connector, ...page }: PageQuery & { readonly connector?: string | null | undefined },
): Promise<Page<ReconciliationRun> | Refused> =>
  readPage(runner, runsPage, [connector ?? null], page);

export type DifferenceRow = ReconciliationDifference & { readonly createdAt: Temporal.Instant };

const differencesPage: Statement = {
  name: 'reconciliation.differences',
  text: `select ${differenceColumns}, found_at as "createdAt" from reconciliation_difference
    where ($4::uuid is null or run_id = $4) and ($5::text is null or kind = $5) and ($6::boolean is null or (resolved_at is not null) = $6)
      and ($7::uuid is null or merchant_id = $7) and ${behindCursor('found_at', 'id')} ${newestFirst('found_at', 'id')}`,
};

/** Which differences: all, or those that everything given fits. */
export interface DifferenceQuery extends PageQuery {
  readonly runId?: string | null | undefined;
  readonly kind?: DifferenceKind | null | undefined;
  readonly resolved?: boolean | null | undefined;
  readonly merchantId?: string | null | undefined;
}

/** A page of differences, the last found first; `bad_request` for a wrong size, cursor or id. */
export const listDifferences = async (
  runner: Runner,
  query: DifferenceQuery,
): Promise<Page<DifferenceRow> | Refused> => {
  const { runId = null, kind = null, resolved = null, merchantId = null } = query;
  for (const [field, id] of Object.entries({ runId, merchantId })) {
    if (id !== null && !isUuid(id)) return refused('bad_request', `${field}: expected a UUID`);
  }
  return readPage(runner, differencesPage, [runId, kind, resolved, merchantId], query);
};

const lock: Statement = {
  name: 'reconciliation.lock_difference',
  text: `select ${differenceColumns} from reconciliation_difference where merchant_id = $1 and id = $2 for update`,
};
const resolve: Statement = {
  name: 'reconciliation.resolve',
  text: `update reconciliation_difference set resolved_at = $3, resolved_by = $4, note = $5 where merchant_id = $1 and id = $2 returning ${differenceColumns}`,
};

const told = ({ kind, operation, operationId, resolvedAt, note }: ReconciliationDifference) => ({
  kind,
  operation,
  operationId,
  resolvedAt,
  note,
});

/**
 * Says what became of a difference; `merchantId` null: one that is no merchant's. Refuses with
 * `not_found`, and with `bad_request` a note that says nothing and a difference that was resolved
 * before.
 */
export const resolveDifference = async (
  database: Pick<Database, 'pool'>,
  acting: Acting,
  {
    merchantId,
    id,
    note,
  }: { readonly merchantId: string | null; readonly id: string; readonly note: string },
): Promise<ReconciliationDifference | Refused> => {
  const none = refused('not_found', 'there is no such difference');
  if (!isUuid(id)) return none;
  const mistake = reasonMistake(note);
  if (mistake) return mistake;
  const key = [merchantId ?? platformMerchantId, id];
  const action = {
    action: 'reconciliation_difference.resolve',
    merchantId,
    subject: { kind: 'reconciliation_difference', id },
  };
  return changeWithAudit<ReconciliationDifference>(database, acting, action, async (client) => {
    const [before] = await run<ReconciliationDifference>(client, lock, key);
    if (!before) return none;
    if (before.resolvedAt) return refused('bad_request', 'id: the difference is resolved already');
    const [after] = await run<ReconciliationDifference>(client, resolve, [
      ...key,
      acting.now(),
      actorOf(acting.principal).actor,
      note,
    ]);
    return after ? { before: told(before), after: told(after), result: after } : none;
  });
};
