/** Reads and writes a table of drafts, of payouts or of refunds. */
import type pg from 'pg';
import { p, type EntityClass } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { AuditVerb } from '../../rules/audit-action.ts';
import type { Mode } from '../../rules/mode.ts';
import { refuse, type RefusalCode, type Refusal, textMistake } from '../../rules/refusal.ts';
import type { OperatorPrincipal, Principal } from '../access/principal.ts';
import { dueOn, workDue, type Timeline } from '../clock/due.ts';
import { writeEntry, type Acting } from '../database/audit.ts';
import type { AuditedState } from '../database/audited.ts';
import { loadByKey, lockByKey, type RowKey } from '../database/batch-calls.ts';
import { ShopEntity } from '../database/entities.ts';
import { instant } from '../database/instant.ts';
import { openList } from '../database/lists.ts';
import type { Database } from '../database/orm.ts';
import { emOn } from '../database/orm-connections.ts';
import type { ListTable } from '../database/list-statements.ts';
import { columns, type Runner, inTransaction } from '../database/statement.ts';
import {
  draftLife_h,
  draftStatuses,
  pendingDrafts_max,
  type DraftState,
  approval,
  rejection,
} from './rules.ts';
import { reason_max_chars } from '../../../schema/limits.ts';
import type { TestClocks } from '../clock/test-clocks.ts';
import type { RowFilter } from '../database/list-statements.ts';
import { refusal } from '../access/access.ts';

/** The fields that every draft has. */
interface Draft extends DraftState, RowKey {
  readonly shopId: string;
  readonly mode: Mode;
  readonly createdAt: Temporal.Instant;
  readonly decidedAt: Temporal.Instant | null;
  readonly rejectReason: string | null;
  /** The refusal of the last approval. */
  readonly refusalCode: RefusalCode | null;
  readonly refusalMessage: string | null;
  readonly refusedAt: Temporal.Instant | null;
}

export interface PersonActing extends Acting {
  readonly principal: OperatorPrincipal;
}

/** What every draft begins with: who proposed it, and when. */
export const proposedBy = (createdBy: string, createdAt: Temporal.Instant) =>
  ({
    status: 'pending',
    createdBy,
    createdAt,
    expiresAt: createdAt.add({ hours: draftLife_h }),
    decidedBy: null,
    decidedAt: null,
    rejectReason: null,
    refusalCode: null,
    refusalMessage: null,
    refusedAt: null,
  }) as const;

type DraftKind = 'payout_draft' | 'refund_draft';
type DraftVerb = AuditVerb<DraftKind>;

interface DraftTable<Row extends Draft> {
  readonly entity: EntityClass<Draft>;
  readonly names: readonly string[];
  /** The table, and the kind of subject in the audit log. */
  readonly name: DraftKind;
  readonly shown: (draft: Row) => NonNullable<AuditedState>;
  readonly insert: (em: EntityManager, draft: Row) => Promise<unknown>;
  readonly update: (em: EntityManager, key: RowKey, draft: Row) => Promise<unknown>;
}

const tooMany = refuse(
  'bad_request',
  `${pendingDrafts_max} drafts are already pending: approve or reject some first`,
);

/** What there is to do with drafts of a table. */
export const openDraftStore = <Row extends Draft>(table: DraftTable<Row>) => {
  const { entity, name, names, shown, insert, update } = table;
  const own = columns(names);
  const listed: ListTable = { name, filters: { status: draftStatuses } };
  const record = (
    client: pg.PoolClient,
    acting: Acting,
    action: DraftVerb,
    { before, after }: { readonly before: Row | null; readonly after: Row },
  ): Promise<void> => {
    const { merchantId, id, refusalCode } = after;
    const states = {
      before: before && { status: before.status },
      after: { ...shown(after), ...(refusalCode === null ? {} : { refusal: refusalCode }) },
    };
    return writeEntry(client, acting, { action: `${name}.${action}`, merchantId, id }, states);
  };
  return {
    name,
    load: loadByKey<Row>(name, own),
    /** Drafts as lists show them: a merchant's, filtered, or those of all merchants. */
    page: openList<Row>({ table: listed, columns: own }),
    /** Drafts past their expiry. */
    lives: dueOn<Row>({
      name: `${name}_lives`,
      table: name,
      at: 'expires_at',
      columns: own,
      where: `status = 'pending'`,
      locked: true,
    }),
    /** Writes a new draft. False: the merchant has no such shop. */
    insert: async (runner: Runner, draft: Row): Promise<boolean> => {
      const { merchantId, shopId: id } = draft;
      const em = emOn(runner);
      if ((await em.count(ShopEntity, { merchantId, id })) === 0) return false;
      await insert(em, draft);
      return true;
    },
    /** Why a merchant may propose no more: its limit of pending drafts; null if it may. */
    limitRefusal: async (
      runner: Runner,
      { merchantId, mode }: Pick<Draft, 'merchantId' | 'mode'>,
    ): Promise<Refusal | null> => {
      const pending = await emOn(runner).count(entity, { merchantId, mode, status: 'pending' });
      return pending < pendingDrafts_max ? null : tooMany;
    },
    lock: lockByKey<Row>(name, own),
    /** Writes an action's audit entry, in the action's transaction. */
    record,
    /** Writes a locked draft as an action has made it, with the audit entry; returns it. */
    move: async (
      client: pg.PoolClient,
      acting: Acting,
      action: DraftVerb,
      before: Row,
      changes: Partial<Draft>,
    ): Promise<Row> => {
      const after = { ...before, ...changes };
      const { merchantId, id } = after;
      await update(emOn(client), { merchantId, id }, after);
      await record(client, acting, action, { before, after });
      return after;
    },
  };
};

type DraftStore<Row extends Draft> = ReturnType<typeof openDraftStore<Row>>;

/** Expires the drafts that are due on a timeline. Returns their number. */
export const expireDrafts = <Row extends Draft>(
  store: DraftStore<Row>,
  { pool }: Pick<Database, 'pool'>,
  clock: () => Temporal.Instant,
  timeline: Timeline = null,
): Promise<number> =>
  workDue(pool, store.lives, clock, timeline, async (client, draft, now) => {
    const name = `expire-${store.name.replace('_', '-')}s`;
    const acting: Acting = { principal: { kind: 'service', name }, requestId: '', now: () => now };
    await store.move(client, acting, 'expire', draft, { status: 'expired', decidedAt: now });
  });

// What the tables of drafts have in common: who proposed and decided, their lists, their checks.

/** The columns of a proposal and its decision. */
export const draftColumns = () => ({
  /** The proposer's subject. */
  createdBy: p.text(),
  createdAt: instant(),
  expiresAt: instant(),
  /** The person who approved or rejected it; null while pending and when it expired. */
  decidedBy: p.text().strictNullable(),
  decidedAt: instant().strictNullable(),
  rejectReason: p.text().strictNullable(),
  /** The refusal of the last approval. */
  refusalCode: p.text().$type<RefusalCode>().strictNullable(),
  refusalMessage: p.text().strictNullable(),
  refusedAt: instant().strictNullable(),
});

// What deciding any draft has in common: its rejection, which the proposer may use to withdraw it,
// and what an approval stores with it.

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
  const changes = { refusalCode, refusalMessage, refusedAt: at };
  await store.move(client, acting, 'refuse', draft, changes);
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
export const keepApproval = <Row extends Draft>(
  store: DraftStore<Row>,
  client: pg.PoolClient,
  { acting, at }: Approving,
  draft: Row,
): Promise<Row> => {
  const decided = { decidedBy: acting.principal.subject, decidedAt: at };
  const none = { refusalCode: null, refusalMessage: null, refusedAt: null };
  const changes = { status: 'approved', ...decided, ...none } as const;
  return store.move(client, acting, 'approve', draft, changes);
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
    const changes = { status, decidedBy: subject, decidedAt: at, rejectReason: reason };
    return store.move(client, acting, 'reject', draft, changes);
  });
};
