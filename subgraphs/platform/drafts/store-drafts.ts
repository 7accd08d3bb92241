/** Reads and writes a table of drafts, of payouts or of refunds. */
import type pg from 'pg';
import { p, type EntityClass } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { AuditVerb } from '../../rules/audit-action.ts';
import type { Mode } from '../../rules/mode.ts';
import { refuse, type RefusalCode, type Refusal } from '../../rules/refusal.ts';
import type { OperatorPrincipal } from '../access/principal.ts';
import { dueOn, workDue, type Timeline } from '../clock/due.ts';
import { writeEntry, type Acting } from '../database/audit.ts';
import type { AuditedState } from '../database/audited.ts';
import { loadByKey, lockByKey, type RowKey } from '../database/batch-calls.ts';
import { ShopEntity } from '../database/entities.ts';
import { instant } from '../database/instant.ts';
import { openList } from '../database/lists.ts';
import type { Database } from '../database/orm.ts';
import { emOn } from '../database/orm-connections.ts';
import { registry, type RegistryTable } from '../database/registry.ts';
import { columns, type Runner } from '../database/statement.ts';
import { draftLife_h, draftStatuses, pendingDrafts_max, type DraftState } from './rules.ts';

/** The fields that every draft has. */
export interface Draft extends DraftState, RowKey {
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
  const listed: RegistryTable = { name, filters: { status: draftStatuses } };
  return {
    name,
    load: loadByKey<Row>(name, own),
    /** Drafts as lists show them: a merchant's, filtered, or those of all merchants. */
    page: openList<Row>({ table: listed, columns: own }, registry<Row>(listed, own)),
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
    /** Writes a locked draft as it has become. */
    move: async (runner: Runner, draft: Row): Promise<void> => {
      const { merchantId, id } = draft;
      await update(emOn(runner), { merchantId, id }, draft);
    },
    /** Writes an action's audit entry, in the action's transaction. */
    record: (
      client: pg.PoolClient,
      acting: Acting,
      action: DraftVerb,
      { before, after }: { readonly before: Row | null; readonly after: Row },
    ): Promise<void> => {
      const { merchantId, id } = after;
      const done = `${name}.${action}` as const;
      const states = {
        before: before && { status: before.status },
        after: {
          ...shown(after),
          ...(after.refusalCode === null ? {} : { refusal: after.refusalCode }),
        },
      };
      return writeEntry(client, acting, { action: done, merchantId, id }, states);
    },
  };
};

export type DraftStore<Row extends Draft> = ReturnType<typeof openDraftStore<Row>>;

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
    const after = { ...draft, status: 'expired', decidedAt: now } as const;
    await store.move(client, after);
    await store.record(client, acting, 'expire', { before: draft, after });
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
