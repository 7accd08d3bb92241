/**
 * What deciding any draft has in common: its rejection, which the proposer may use to withdraw it,
 * and what an approval stores with it.
 */
import { reason_max_chars } from '../../../schema/limits.ts';
import type pg from 'pg';
import type { TestClocks } from '../clock/test-clocks.ts';
import type { Acting } from '../database/audit.ts';
import type { RowFilter } from '../database/list-statements.ts';
import type { RowKey } from '../database/batch-calls.ts';
import { inTransaction } from '../database/statement.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';
import { textMistake } from '../../rules/texts.ts';
import type { Principal } from '../access/principal.ts';
import { refusal } from '../access/access.ts';
import { approval, rejection } from './rules.ts';
import type { Draft, DraftStore, PersonActing } from './store-drafts.ts';

export const noDraft = refuse('not_found', 'there is no such draft');

/** The calling person. Access rows keep others out; this only narrows the type. */
export const personOf = ({ principal, requestId, now }: Acting): PersonActing => {
  if (principal.kind !== 'operator')
    throw refusal('scope_required', 'this operation is for people');
  return { principal, requestId, now };
};

/** Drafts of the caller, or of other people. */
export const ofCaller = (
  { name }: Pick<DraftStore<Draft>, 'name'>,
  principal: Principal,
  isMine: boolean | null | undefined,
): RowFilter[] => {
  if (isMine === null || isMine === undefined || principal.kind !== 'operator') return [];
  const sign = isMine ? '=' : '<>';
  const { subject } = principal;
  return [{ sql: (parameter) => `${name}.created_by ${sign} ${parameter}`, value: subject }];
};

/** The computed fields of any draft. */
export const decidedFields = {
  isMine: (
    { createdBy }: Pick<Draft, 'createdBy'>,
    _: unknown,
    { principal }: Pick<Acting, 'principal'>,
  ): boolean => principal.kind === 'operator' && principal.subject === createdBy,
  lastRefusal: ({ refusalCode: code, refusalMessage: message, refusedAt: at }: Draft) =>
    code !== null && message !== null && at ? { code, message, at } : null,
};

/** Who approves, and when by the time of the draft's shop. */
export interface Approving {
  readonly acting: PersonActing;
  readonly at: Temporal.Instant;
}

/** Stores a refusal with a locked draft, which stays pending. */
export const keepRefusal = async <Row extends Draft>(
  store: DraftStore<Row>,
  client: pg.PoolClient,
  { acting, at }: Approving,
  draft: Row,
  { code: refusalCode, message: refusalMessage }: Refusal,
): Promise<void> => {
  const after = { ...draft, refusalCode, refusalMessage, refusedAt: at };
  await store.move(client, after);
  await store.record(client, acting, 'refuse', { before: draft, after });
};

/** The same for a draft that is not locked, if it may still be approved. Returns the refusal. */
export const noteRefusal = async <Row extends Draft>(
  store: DraftStore<Row>,
  pool: pg.Pool,
  approving: Approving,
  key: RowKey,
  refusedAs: Refusal,
): Promise<Refusal> => {
  const { acting, at } = approving;
  await inTransaction(pool, async (client) => {
    const draft = await store.lock(client, key);
    if (draft && approval(draft, { subject: acting.principal.subject, at }) === 'approved')
      await keepRefusal(store, client, approving, draft, refusedAs);
  });
  return refusedAs;
};

/** Stores the approval of a locked draft, in the transaction of what it makes. */
export const keepApproval = async <Row extends Draft>(
  store: DraftStore<Row>,
  client: pg.PoolClient,
  { acting, at }: Approving,
  draft: Row,
): Promise<Row> => {
  const decided = { decidedBy: acting.principal.subject, decidedAt: at };
  const none = { refusalCode: null, refusalMessage: null, refusedAt: null };
  const after = { ...draft, status: 'approved' as const, ...decided, ...none };
  await store.move(client, after);
  await store.record(client, acting, 'approve', { before: draft, after });
  return after;
};

/** Drafts that one call decides. */
const decided_max = 50;

/** Refuses a list of drafts to decide that is empty, too long, or has one twice. */
export const idsRefusal = (ids: readonly string[]): Refusal | null => {
  if (ids.length < 1 || ids.length > decided_max)
    return refuse('bad_request', `ids: expected 1 to ${decided_max}, got ${ids.length}`);
  return new Set(ids).size < ids.length
    ? refuse('bad_request', 'ids: expected each draft once')
    : null;
};

interface RejectionRequest extends RowKey {
  readonly reason: string;
}

/**
 * Rejects a pending draft; returns it. Repeating the call by the same person is allowed. Refuses
 * with `not_found`, `not_pending`, and with `bad_request` an empty reason.
 */
export const rejectDraft = async <Row extends Draft>(
  store: DraftStore<Row>,
  parts: { readonly pool: pg.Pool; readonly clocks: Pick<TestClocks, 'timeOf'> },
  acting: PersonActing,
  { merchantId, id, reason }: RejectionRequest,
): Promise<Row | Refusal> => {
  const mistake = textMistake('reason', reason, 1, reason_max_chars);
  if (mistake) return refuse('bad_request', mistake);
  const { pool, clocks } = parts;
  const [found] = await store.load(pool, [{ merchantId, id }]);
  if (!found) return noDraft;
  const { shopId, mode } = found;
  const at = await clocks.timeOf({ kind: 'shop', merchantId, shopId, mode });
  const { subject } = acting.principal;
  return inTransaction(pool, async (client): Promise<Row | Refusal> => {
    const draft = await store.lock(client, found);
    if (!draft) return noDraft;
    const status = rejection(draft, { subject, at });
    if (status === 'again') return draft;
    if (typeof status === 'object') return status;
    const after = {
      ...draft,
      status,
      decidedBy: subject,
      decidedAt: at,
      rejectReason: reason,
    };
    await store.move(client, after);
    await store.record(client, acting, 'reject', { before: draft, after });
    return after;
  });
};
