/** Reads and writes payout drafts. */
import type { AuditVerb } from '../../kernel/rules/audit-action.ts';
import type pg from 'pg';
import { dueOn } from '../../kernel/clock/due.ts';
import { writeEntries, type Acting } from '../../kernel/database/audit.ts';
import type { ListedPage } from '../../kernel/database/filtered-list.ts';
import { loadByKey, type RowKey } from '../../kernel/database/load-by-key.ts';
import { openList } from '../../kernel/database/open-list.ts';
import { registry, type RegistryTable } from '../../kernel/database/registry.ts';
import {
  columnNames,
  columns,
  propertyNames,
  rowJson,
  run,
  type Runner,
  type Statement,
} from '../../kernel/database/statement.ts';
import { maskedName } from '../../kernel/rules/receipt-customer.ts';
import type { Mode } from '../../kernel/rules/mode.ts';
import { PayoutDraftEntity, type PayoutDraft } from './entities.ts';
import { draftStatuses, pendingDrafts_max, shownRecipient } from './rules.ts';

const draftNames = propertyNames(PayoutDraftEntity);
const draftColumns = columns(draftNames);

/** Drafts by merchant and id. */
export const loadDrafts = loadByKey<PayoutDraft>('payout_draft', draftColumns);

const draftTable: RegistryTable = { name: 'payout_draft', filters: { status: draftStatuses } };

export type DraftPage = ListedPage<PayoutDraft>;

/** Drafts as lists show them: a merchant's, filtered, or those of all merchants. */
export const pageOfDrafts = openList<PayoutDraft>(
  { table: draftTable, columns: draftColumns },
  registry<PayoutDraft>(draftTable, draftColumns),
);

/** Drafts past their expiry. */
export const draftLives = dueOn<PayoutDraft>({
  name: 'payout_draft_lives',
  table: 'payout_draft',
  at: 'expires_at',
  columns: draftColumns,
  where: `status = 'pending'`,
  locked: true,
});

const insert: Statement = {
  name: 'payout_draft.create',
  text: `insert into payout_draft (${columnNames(draftNames)})
    select ${draftNames.map((name) => (name === 'merchantId' ? '$2::uuid' : columnNames([name]))).join(', ')} from jsonb_populate_record(null::payout_draft, $1::jsonb) as draft
    where exists (select 1 from shop where shop.merchant_id = $2 and shop.id = $3) returning 1`,
};

/** Writes a new draft. False: the merchant has no such shop. */
export const insertDraft = async (runner: Runner, draft: PayoutDraft): Promise<boolean> => {
  const values = [JSON.stringify(rowJson(draftNames, draft)), draft.merchantId, draft.shopId];
  return (await run(runner, insert, values)).length > 0;
};

const waiting: Statement = {
  name: 'payout_draft.waiting',
  text: `select count(*)::int as count from (
    select 1 from payout_draft where merchant_id = $1 and mode = $2 and status = 'pending' limit ${pendingDrafts_max}) as counted`,
};

/** Whether a merchant has reached its limit of pending drafts. */
export const hasManyWaiting = async (
  runner: Runner,
  { merchantId, mode }: { readonly merchantId: string; readonly mode: Mode },
): Promise<boolean> => {
  const [row] = await run<{ count: number }>(runner, waiting, [merchantId, mode]);
  return (row?.count ?? 0) >= pendingDrafts_max;
};

const lock: Statement = {
  name: 'payout_draft.lock',
  text: `select ${draftColumns} from payout_draft where merchant_id = $1 and id = $2 for update`,
};

/**
 * Locks a draft for the transaction; null when there is none. Always lock it before its merchant.
 */
export const lockDraft = async (
  runner: Runner,
  { merchantId, id }: RowKey,
): Promise<PayoutDraft | null> =>
  (await run<PayoutDraft>(runner, lock, [merchantId, id]))[0] ?? null;

const update: Statement = {
  name: 'payout_draft.move',
  text: `update payout_draft set status = $3, decided_by = $4, decided_at = $5, reject_reason = $6, refusal_code = $7, refusal_message = $8, refused_at = $9,
    recipient_card_digest = case when $3::text = 'pending' then recipient_card_digest end where merchant_id = $1 and id = $2`,
};

/** A draft in the audit log, without the data needed to pay its recipient. */
const shown = (draft: PayoutDraft) => ({
  status: draft.status,
  amount: draft.amount,
  currency: draft.currency,
  method: draft.method,
  mode: draft.mode,
  recipient: {
    ...shownRecipient(draft),
    fullName: draft.recipientName && maskedName(draft.recipientName),
  },
  reason: draft.rejectReason ?? draft.reason,
  ...(draft.refusalCode === null ? {} : { refusal: draft.refusalCode }),
});

/** Writes an action's audit entry, in the action's transaction. */
export const recordDraft = (
  client: pg.PoolClient,
  acting: Acting,
  action: AuditVerb<'payout_draft'>,
  { before, after }: { readonly before: PayoutDraft | null; readonly after: PayoutDraft },
): Promise<void> => {
  const { merchantId, id } = after;
  const done = `payout_draft.${action}` as const;
  const subject = { kind: 'payout_draft', id };
  return writeEntries(client, [
    {
      acting,
      action: { action: done, merchantId, subject },
      before: before && { status: before.status },
      after: shown(after),
    },
  ]);
};

/** Writes a locked draft's changes. A card's digest is stored only while it is pending. */
export const moveDraft = async (runner: Runner, draft: PayoutDraft): Promise<void> => {
  const { merchantId, id, status, decidedBy, decidedAt, rejectReason } = draft;
  const { refusalCode, refusalMessage, refusedAt } = draft;
  const decided = [status, decidedBy, decidedAt, rejectReason];
  await run(runner, update, [merchantId, id, ...decided, refusalCode, refusalMessage, refusedAt]);
};
