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
 *     async (em) => {
 *       const shop = await lockShop(em, { merchantId, shopId });
 *       return shop ? em.assign(shop, { name }) : refuse('not_found', 'there is no such shop');
 *     },
 *   ),
 * ```
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type pg from 'pg';
import { rfc3339 } from '../../../schema/rfc3339.ts';
import { ChangeRecord, type AuditedState } from './audited.ts';
import { isUuid, platformMerchantId } from '../../rules/ids.ts';
import { clientOf } from './orm-connections.ts';
import type { Database } from './orm.ts';
import { listsOfEntry, noteListChange } from './list-changes.ts';
import { newRowId } from './new-id.ts';
import { run, type Statement } from './statement.ts';
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

const stateJson = (state: AuditedState): string | null =>
  state &&
  JSON.stringify(state, (_name, value: unknown) => {
    if (typeof value === 'bigint') return Number(value);
    return typeof value === 'string'
      ? maskCardNumbers(value.replaceAll(secretForms, '[secret]'))
      : value;
  });

/** What people write of what they do. */
const textNames: readonly string[] = ['reason', 'note'];

/** The texts of an entry's states, by their names. */
export interface AuditTexts {
  readonly before: Readonly<Record<string, string>>;
  readonly after: Readonly<Record<string, string>>;
}

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

const insertTexts: Statement = {
  name: 'audit.insert_texts',
  text: `insert into audit_text (merchant_id, entry_id, subject_id, texts)
    select merchant_id, entry_id, subject_id, texts::json
    from json_to_recordset($1::json) as given (merchant_id uuid, entry_id uuid, subject_id text, texts text)`,
};

const insertEntries: Statement = {
  name: 'audit.insert',
  text: `insert into audit_entry (merchant_id, id, at, actor, role, action, subject_kind, subject_id, before, after, request_id)
    select merchant_id, id, at, actor, role, action, subject_kind, subject_id, before::jsonb, after::jsonb, request_id
    from jsonb_to_recordset($1::jsonb) as entry (merchant_id uuid, id uuid, at timestamptz, actor text, role text, action text,
      subject_kind text, subject_id text, before text, after text, request_id text)`,
};

/** An entry as it is written outside the unit of work. */
export interface WrittenEntry {
  readonly acting: Acting;
  readonly action: AuditedAction;
  readonly before: AuditedState;
  readonly after: AuditedState;
}

const writeTexts = async (
  client: pg.PoolClient,
  entries: readonly (WrittenEntry & { readonly entryId: string })[],
): Promise<void> => {
  const rows = entries.flatMap(({ entryId, action: { merchantId, id }, before, after }) => {
    const texts = { before: textsIn(before), after: textsIn(after) } satisfies AuditTexts;
    if (Object.keys({ ...texts.before, ...texts.after }).length === 0) return [];
    return [
      {
        merchant_id: merchantId ?? platformMerchantId,
        entry_id: entryId,
        subject_id: id,
        texts: stateJson({ ...texts }),
      },
    ];
  });
  if (rows.length > 0) await run(client, insertTexts, [JSON.stringify(rows)]);
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
  const rows = made.map(({ acting, action, entryId, ...states }) => {
    const { actor, role } = actorOf(acting.principal);
    return {
      merchant_id: action.merchantId ?? platformMerchantId,
      id: entryId,
      at: rfc3339(acting.now()),
      actor,
      role,
      action: action.action,
      subject_kind: kindOf(action),
      subject_id: action.id,
      before: stateJson(withoutTexts(states.before)),
      after: stateJson(withoutTexts(states.after)),
      request_id: acting.requestId,
    };
  });
  if (rows.length > 0) await run(client, insertEntries, [JSON.stringify(rows)]);
  await writeTexts(client, made);
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
