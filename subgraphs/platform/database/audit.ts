/**
 * The audit log: who did what in the cabinet and the operator's console, with the state before and
 * after. Append-only: PostgreSQL itself refuses to change or remove an entry. **Every mutation of
 * the cabinet goes through `changeEntities`**, so that no change is without its entry and no entry
 * without its change:
 *
 * ```ts
 * shopRename: (_, { merchantId, shopId, name }, context) =>
 *   changeEntities(
 *     database,
 *     context,
 *     { action: 'shop.rename', merchantId, id: shopId },
 *     changing(ShopEntity, { merchantId, id: shopId }, 'shop', (shop, em) =>
 *       em.assign(shop, { name }),
 *     ),
 *   ),
 * ```
 */
import type { EntityName, FilterQuery, Loaded } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type pg from 'pg';
import { ChangeRecord, type AuditedState } from './audited.ts';
import { isUuid, platformMerchantId } from '../../rules/ids.ts';
import { AuditEntryEntity, AuditTextEntity, type AuditTexts } from './entities.ts';
import { clientOf, emOn, forUpdate } from './orm-connections.ts';
import type { Database } from './orm.ts';
import { listsOfEntry, noteListChange } from './list-changes.ts';
import { newRowId } from './statement.ts';
import type { AuditAction } from '../../rules/audit-action.ts';
import { maskCardNumbers } from '../../rules/card.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import { mayReadMerchant } from '../graph/entities.ts';
import type { Principal } from '../access/principal.ts';
import type { SubgraphContext } from '../graph/subgraph.ts';

/** Who acts: a resolver's context has it all. */
export type Acting = Pick<SubgraphContext, 'principal' | 'requestId' | 'now'>;

export interface AuditedAction {
  readonly action: AuditAction;
  /** The merchant whose log it goes to; null when it concerns no single merchant. */
  readonly merchantId: string | null;
  /** Of the thing that is changed. What is created gets its id before the change. */
  readonly id: string;
  /** What kind of thing it is; absent: the one that the action names. */
  readonly kind?: string;
  /**
   * Which properties of the entity the entry shows (`platform/database/audited`); absent: `audit`.
   */
  readonly view?: string;
}

/** What an entry holds instead of the unit of work's values, or in addition to them. */
export interface EntryNotes {
  /** In place of the state that the unit of work read. */
  before?: AuditedState;
  /** In place of the state that the unit of work wrote. */
  after?: AuditedState;
  /** In addition to the properties of the state after. */
  details?: Readonly<Record<string, unknown>>;
}

/**
 * Runs `change` on managed entities and writes its audit entry, in one transaction. The states of
 * the entry are those of the unit of work: of the written entities, or of the entity that the
 * change returns when nothing was written; `notes` replaces or adds values. Handwritten statements
 * take part through `clientOf`.
 * When the change refuses, everything is rolled back, nothing is written, and the refusal is
 * returned; when it throws, likewise. Wake-ups and bus messages are sent after the answer. A
 * merchant that is not the caller's is refused with `not_found` before anything is done, and so is
 * a platform subject for a cabinet user. In `before` and `after`, our secrets are written as
 * `[secret]`, and a card number by its last 4 digits. A `reason` or a `note`, which are free text,
 * is stored outside the entry.
 */
export const changeEntities = async <Result extends object>(
  database: Pick<Database, 'emOf'>,
  acting: Acting,
  action: AuditedAction,
  change: (em: EntityManager, notes: EntryNotes) => Promise<Result | Refusal>,
): Promise<Result | Refusal> => {
  if (!mayChange(acting, action)) return refuse('not_found', 'there is no such merchant');
  const inEntities = async (em: EntityManager): Promise<Result> => {
    const record = new ChangeRecord(action.view);
    em.getEventManager().registerSubscriber(record);
    const notes: EntryNotes = {};
    const result = await change(em, notes);
    if (isRefusal(result)) throw new RolledBack(result);
    await em.flush();
    const { before, after } = { ...record.states(result), ...notes };
    const states = { before, after: after && { ...after, ...notes.details } };
    await writeEntry(await clientOf(em), acting, action, states);
    return result;
  };
  try {
    return await database.emOf(acting).transactional(inEntities, { clear: true });
  } catch (error) {
    if (error instanceof RolledBack) return error.refusal;
    throw error;
  }
};

/** A change for `changeEntities` of a locked entity; refuses with `not_found` without one. */
export const changing =
  <Entity extends object, Result>(
    entity: EntityName<Entity>,
    where: FilterQuery<NoInfer<Entity>> & { readonly id: string },
    what: string,
    change: (
      found: Loaded<Entity>,
      em: EntityManager,
      notes: EntryNotes,
    ) => Result | Refusal | Promise<Result | Refusal>,
  ) =>
  async (em: EntityManager, notes: EntryNotes): Promise<Result | Refusal> => {
    const found = isUuid(where.id) ? await em.findOne(entity, where, forUpdate) : null;
    return found ? change(found, em, notes) : refuse('not_found', `there is no such ${what}`);
  };

/** The same, and it removes the entity. */
export const removing = <Entity extends object>(
  entity: EntityName<Entity>,
  where: FilterQuery<NoInfer<Entity>> & { readonly id: string },
  what: string,
) =>
  changing(entity, where, what, (found, em) => {
    em.remove(found);
    return { id: where.id };
  });

const kindOf = ({ action, kind }: AuditedAction): string => kind ?? action.split('.', 1).join();

const mayChange = ({ principal }: Acting, { merchantId }: AuditedAction): boolean => {
  const changed = merchantId ?? platformMerchantId;
  return isUuid(changed) && mayReadMerchant(principal, changed);
};

/** Carries a refusal out of the transaction and ends it. */
class RolledBack extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** The caller's identity, for the record. */
export const actorOf = (
  principal: Principal,
): { readonly actor: string; readonly role: string } => {
  switch (principal.kind) {
    case 'operator':
      return { actor: principal.subject, role: principal.role };
    case 'key':
      return { actor: principal.keyId, role: 'key' };
    case 'service':
    case 'edge':
      return { actor: principal.name, role: principal.kind };
    case 'buyer':
      return { actor: principal.paymentId, role: 'buyer' };
  }
};

/** Keys, webhook and signing secrets, sealed texts and digests, by their forms. */
const secretForms =
  /\b(?:whs|thm)_[A-Za-z0-9]{16,}|\bsk_(?:test|live)_[A-Za-z0-9]{6}_[A-Za-z0-9_-]+|\bv1\.[0-9a-f]{8}\.[A-Za-z0-9_-]+|\b[0-9a-f]{64}\b/g;

const mapValues = <From, To>(
  of: Readonly<Record<string, From>>,
  map: (value: From, name: string) => To,
): Record<string, To> =>
  Object.fromEntries(Object.entries(of).map(([name, value]) => [name, map(value, name)]));

/** A state as JSON, without secrets and card numbers. */
const masked = <State extends object | null>(state: State): State =>
  JSON.parse(
    JSON.stringify(state, (_name, value: unknown) => {
      if (typeof value === 'bigint') return Number(value);
      return typeof value === 'string'
        ? maskCardNumbers(value.replaceAll(secretForms, '[secret]'))
        : value;
    }),
  ) as State;

/** What people write of what they do. */
const textNames: readonly string[] = ['reason', 'note'];

const textsIn = (state: AuditedState): Record<string, string> =>
  Object.fromEntries(
    Object.entries(state ?? {}).filter(
      (named): named is [string, string] =>
        textNames.includes(named[0]) && typeof named[1] === 'string',
    ),
  );

/** Placeholder in an entry for a text that is stored separately. */
const besideIt = '[text]';

const withoutTexts = (state: AuditedState): AuditedState =>
  state && { ...state, ...mapValues(textsIn(state), () => besideIt) };

/** A state as people read it, with the separately stored texts that still exist. */
export const withTexts = (
  state: Record<string, unknown> | null,
  texts: Readonly<Record<string, string>> = {},
): Record<string, unknown> | null =>
  state &&
  mapValues(state, (value, name) =>
    value === besideIt && textNames.includes(name) ? (texts[name] ?? '[erased]') : value,
  );

/** An entry as it is written outside the unit of work. */
export interface WrittenEntry {
  readonly acting: Acting;
  readonly action: AuditedAction;
  readonly before: AuditedState;
  readonly after: AuditedState;
}

type MadeEntry = WrittenEntry & { readonly entryId: string };

/** The separately stored texts of an entry; nothing when it has none. */
const textsOf = ({ entryId, action: { merchantId, id }, before, after }: MadeEntry) => {
  const texts: AuditTexts = { before: textsIn(before), after: textsIn(after) };
  const isEmpty = Object.keys({ ...texts.before, ...texts.after }).length === 0;
  const key = { merchantId: merchantId ?? platformMerchantId, entryId, subjectId: id };
  return isEmpty ? [] : [{ ...key, texts: masked(texts) }];
};

/**
 * Writes entries in the caller's own transaction. For actions that do not come from the cabinet but
 * are recorded, such as refunds and their reasons.
 */
export const writeEntries = async (
  client: pg.PoolClient,
  entries: readonly WrittenEntry[],
): Promise<void> => {
  const made = entries.map((entry) => ({ ...entry, entryId: newRowId() }));
  const em = emOn(client);
  await em.insertMany(
    AuditEntryEntity,
    made.map(({ acting, action, entryId, before, after }) => ({
      merchantId: action.merchantId ?? platformMerchantId,
      id: entryId,
      at: acting.now(),
      ...actorOf(acting.principal),
      action: action.action,
      subjectKind: kindOf(action),
      subjectId: action.id,
      before: masked(withoutTexts(before)),
      after: masked(withoutTexts(after)),
      requestId: acting.requestId,
    })),
  );
  await em.insertMany(AuditTextEntity, made.flatMap(textsOf));
  for (const { action } of entries)
    for (const list of listsOfEntry(kindOf(action)))
      noteListChange(client, { list, merchantId: action.merchantId });
};

export const writeEntry = (
  client: pg.PoolClient,
  acting: Acting,
  action: AuditedAction,
  states: { readonly before: AuditedState; readonly after: AuditedState },
): Promise<void> => writeEntries(client, [{ acting, action, ...states }]);
