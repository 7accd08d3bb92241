/**
 * What all changes of operator policies share: the audit entry, serialization, and the notification
 * of every process.
 */
import { policyReason_max_chars } from '../../../schema/limits.ts';
import type { EntityManager } from '@mikro-orm/postgresql';
import { rfc3339 } from '../../../schema/scalars.ts';
import { isUuid } from '../../rules/ids.ts';
import { ShopEntity, MerchantEntity } from '../../platform/database/entities.ts';
import type { OnDatabase } from '../../platform/database/orm.ts';
import { takePolicies, type Policies } from '../../platform/policies/policies.ts';
import { textMistake, isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import type { Principal } from '../../platform/access/principal.ts';
import { merchantOf, refusal } from '../../platform/access/access.ts';
import {
  changeEntities,
  type Acting,
  type AuditedAction,
  type EntryNotes,
} from '../../platform/database/audit.ts';
import type { Keys } from '../../platform/access/keys.ts';

export interface PolicyDeps extends OnDatabase<'pool' | 'emOf'> {
  readonly policies: Policies;
  /** Makes the fingerprints of blocked cards and accounts. */
  readonly fingerprintKey: Keys;
}

/**
 * Carries out a change with its audit entry, in one transaction, and notifies every process.
 * Refuses as the change does.
 */
export const changePolicy = async <Result extends object>(
  { database, policies }: PolicyDeps,
  acting: Acting,
  action: AuditedAction,
  change: (em: EntityManager, notes: EntryNotes) => Promise<Result | Refusal>,
): Promise<Result | Refusal> => {
  const changed = await changeEntities(database, acting, action, async (em, notes) => {
    await takePolicies(em);
    return change(em, notes);
  });
  if (!isRefusal(changed)) await policies.announce();
  return changed;
};

/**
 * The merchant whose policies are read: the named one, a cabinet user's own, or the platform
 * (null).
 */
export const ownerOf = (principal: Principal, named: string | null | undefined): string | null => {
  const narrowed = principal.kind === 'operator' && principal.merchantId !== null;
  const owner = named || narrowed ? merchantOf(principal, named) : null;
  if (owner !== null && !isUuid(owner)) throw refusal('not_found', 'there is no such merchant');
  return owner;
};

/**
 * The merchant whose policies are changed. A cabinet user changes its own; the audited change
 * refuses another merchant.
 */
export const ownerToChange = (
  principal: Principal,
  named: string | null | undefined,
): string | null => named ?? (principal.kind === 'operator' ? principal.merchantId : null);

/** `not_found` when the merchant does not exist or does not own the named shop; otherwise null. */
export const missing = async (
  em: EntityManager,
  merchantId: string,
  shopId: string | null,
): Promise<Refusal | null> => {
  const gone = refuse(
    'not_found',
    shopId === null ? 'there is no such merchant' : 'there is no such shop',
  );
  if (!isUuid(merchantId) || (shopId !== null && !isUuid(shopId))) return gone;
  const found =
    shopId === null
      ? await em.count(MerchantEntity, { id: merchantId })
      : await em.count(ShopEntity, { merchantId, id: shopId });
  return found > 0 ? null : gone;
};

/**
 * The moment a policy takes effect: now by default; `bad_request` for the past. Policies are never
 * retroactive.
 */
export const beginning = (
  since: Temporal.Instant | null | undefined,
  now: Temporal.Instant,
): Temporal.Instant | Refusal => {
  const from = Temporal.Instant.fromEpochMilliseconds((since ?? now).epochMilliseconds);
  return from.epochMilliseconds < now.epochMilliseconds
    ? refuse(
        'bad_request',
        `since: expected a moment that is not in the past, got ${rfc3339(from)}`,
      )
    : from;
};

/** What is wrong with a reason, or with the note of that argument; null when nothing is. */
export const reasonMistake = (
  reason: string,
  argument: 'reason' | 'note' = 'reason',
): Refusal | null => {
  const mistake = textMistake(argument, reason.trim() && reason, 1, policyReason_max_chars);
  return mistake === null ? null : refuse('bad_request', mistake);
};
