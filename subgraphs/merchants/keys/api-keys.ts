/**
 * The API keys of a shop (docs/contract.md#authentication). A key is shown once and stored as a
 * hash. Revoking one publishes to the bus topic `keys` after the commit; every process then drops
 * the merchant's cached keys.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { FilterQuery, InferEntity } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type {
  ApiKeyIssued,
  MutationapiKeyApproveArgs,
  MutationapiKeyIssueArgs,
  MutationapiKeyRotateArgs,
  QueryapiKeysArgs,
} from '../../../schema/generated/merchants.ts';
import { ShopEntity } from '../../platform/database/entities.ts';
import { findPage, given, type Page } from '../../platform/database/keyset.ts';
import { isUuid } from '../../rules/ids.ts';
import { forUpdate } from '../../platform/database/orm-connections.ts';
import type { OnDatabase } from '../../platform/database/orm.ts';
import { run, type Runner, type Statement } from '../../platform/database/statement.ts';
import type { Bus } from '../../platform/bus/bus.ts';
import { scopes } from '../../platform/access/principal.ts';
import type { PersonActing } from '../../platform/drafts/drafts.ts';
import { isRefusal, refuse, type Refusal, textMistake } from '../../rules/refusal.ts';
import {
  changeEntities,
  changing,
  type Acting,
  type AuditedAction,
} from '../../platform/database/audit.ts';
import { ApiKeyEntity, type ApiKey } from '../entities.ts';
import {
  approvalObstacle,
  digestOf,
  endOfReplaced,
  keyName_max_chars,
  keyOverlap_max_h,
  keyRandom_bytes,
  keyStatus,
  makeKey,
  requesterOf,
  type ApiKeyStatus,
} from './rules.ts';

export interface KeyDeps extends OnDatabase<'pool' | 'emOf'> {
  /** Notified when cached keys of a merchant are stale. */
  readonly bus: Bus;
}

export interface ShopKey {
  readonly merchantId: string;
  readonly shopId: string;
}

interface CacheDeps extends OnDatabase<'emOf'> {
  readonly bus: Pick<Bus, 'publish'>;
}

/** Changes what is cached with a merchant's keys: every process drops its copy after the commit. */
export const changeCached = async <Result extends object>(
  { database, bus }: CacheDeps,
  acting: Acting,
  action: AuditedAction & { readonly merchantId: string },
  change: Parameters<typeof changeEntities<Result>>[3],
): Promise<Result | Refusal> => {
  const changed = await changeEntities(database, acting, action, change);
  if (!isRefusal(changed)) await bus.publish('keys', { merchantId: action.merchantId });
  return changed;
};

/** Why a key may not have this name or expiry; null when it may. */
const termsMistake = (
  { name, expiresAt }: Pick<ApiKey, 'name' | 'expiresAt'>,
  now: Temporal.Instant,
): Refusal | null => {
  const mistake = textMistake('name', name, 0, keyName_max_chars);
  if (mistake) return refuse('bad_request', mistake);
  return expiresAt !== null && Temporal.Instant.compare(expiresAt, now) <= 0
    ? refuse('bad_request', 'expiresAt: expected a moment that is not past')
    : null;
};

/** The terms of a new key, and who issues it. */
interface NewKey extends Pick<
  ApiKey,
  'id' | 'merchantId' | 'shopId' | 'mode' | 'scopes' | 'name' | 'expiresAt' | 'requestedBy'
> {
  readonly replaces: { readonly id: string; readonly overlap_h: number } | null;
}

/** Makes the row of a key; gives the whole key. */
const createKey = (
  em: EntityManager,
  { principal, now }: Acting,
  { replaces, ...terms }: NewKey,
): ApiKeyIssued => {
  const { key: secret, prefix } = makeKey(terms.mode, randomBytes(keyRandom_bytes));
  em.create(ApiKeyEntity, {
    ...terms,
    digest: digestOf(secret),
    prefix,
    owner: principal.kind === 'operator' ? principal.subject : null,
    createdAt: now(),
    replacesId: replaces?.id ?? null,
    overlap_h: replaces?.overlap_h ?? null,
    lastUsedAt: null,
    revokedAt: null,
    approvedBy: null,
    approvedAt: null,
  });
  return { id: terms.id, secret, status: terms.requestedBy === null ? 'active' : 'pending' };
};

/**
 * Issues a key of a shop. A key that can pay out is pending when one person of the merchant
 * requests it. Only the answer contains the whole key. Refuses with `not_found` or, for a wrong
 * scope, name or expiry, `bad_request`.
 */
export const issueApiKey = async (
  { database }: Pick<KeyDeps, 'database'>,
  acting: Acting,
  {
    merchantId,
    shopId,
    mode,
    scopes: asked = null,
    name,
    expiresAt = null,
  }: Required<MutationapiKeyIssueArgs>,
): Promise<ApiKeyIssued | Refusal> => {
  const wanted = asked ?? scopes;
  const unknown = wanted.filter((scope) => !scopes.some((known) => known === scope));
  if (unknown.length > 0)
    return refuse(
      'bad_request',
      `scopes: expected some of ${scopes.join(', ')}, got ${unknown.join(', ')}`,
    );
  const mistake = termsMistake({ name, expiresAt }, acting.now());
  if (mistake) return mistake;
  const noShop = refuse('not_found', 'there is no such shop');
  if (!isUuid(shopId)) return noShop;
  const id = randomUUID();
  const action: AuditedAction = { action: 'api_key.issue', merchantId, id };
  return changeEntities(database, acting, action, async (em) => {
    if ((await em.count(ShopEntity, { merchantId, id: shopId })) === 0) return noShop;
    return createKey(em, acting, {
      id,
      merchantId,
      shopId,
      mode,
      scopes: scopes.filter((scope) => wanted.includes(scope)),
      name,
      expiresAt,
      requestedBy: requesterOf(wanted, personOf(acting)),
      replaces: null,
    });
  });
};

const personOf = ({ principal }: Acting) => (principal.kind === 'operator' ? principal : null);

/**
 * Replaces a key by a new one with the same shop, mode, scopes and name. The old one works for so
 * many hours more from when the new one works, which for a key that can pay out is its approval.
 * Refuses with `not_found`, with `not_pending` when the key does not work, and with `bad_request`.
 */
export const rotateApiKey = async (
  deps: KeyDeps,
  acting: Acting,
  {
    merchantId,
    apiKeyId,
    overlapHours: overlap_h,
    expiresAt = null,
  }: Required<MutationapiKeyRotateArgs>,
): Promise<ApiKeyIssued | Refusal> => {
  if (overlap_h < 0 || overlap_h > keyOverlap_max_h)
    return refuse(
      'bad_request',
      `overlapHours: expected 0 to ${keyOverlap_max_h}, got ${overlap_h}`,
    );
  const id = randomUUID();
  const change = changing(ApiKeyEntity, { merchantId, id: apiKeyId }, 'key', (key, em) => {
    const now = acting.now();
    const status = keyStatus(key, now);
    if (status !== 'active')
      return refuse('not_pending', `only a working key can be replaced; this one is ${status}`);
    const mistake = termsMistake({ name: key.name, expiresAt }, now);
    if (mistake) return mistake;
    const { shopId, mode, scopes: same, name } = key;
    const requestedBy = requesterOf(same, personOf(acting));
    if (requestedBy === null) em.assign(key, { expiresAt: endOfReplaced(key, overlap_h, now) });
    const replaces = { id: apiKeyId, overlap_h };
    const terms = { id, merchantId, shopId, mode, scopes: same, name, expiresAt, requestedBy };
    return createKey(em, acting, { ...terms, replaces });
  });
  return changeCached(deps, acting, { action: 'api_key.rotate', merchantId, id }, change);
};

/** Ends the key that this one replaces, now that this one works. */
const endReplaced = async (
  em: EntityManager,
  { merchantId, replacesId, overlap_h }: ApiKey,
  now: Temporal.Instant,
): Promise<void> => {
  if (replacesId === null) return;
  const old = await em.findOne(ApiKeyEntity, { merchantId, id: replacesId }, forUpdate);
  if (old) em.assign(old, { expiresAt: endOfReplaced(old, overlap_h ?? 0, now) });
};

/** Applies `change` to a locked key. */
const changeKey = (
  deps: KeyDeps,
  acting: Acting,
  action: 'api_key.approve' | 'api_key.revoke',
  { merchantId, apiKeyId: id }: MutationapiKeyApproveArgs,
  change: (key: ApiKey, em: EntityManager) => Promise<Partial<ApiKey> | Refusal>,
): Promise<ApiKey | Refusal> => {
  const inForce = changing(ApiKeyEntity, { merchantId, id }, 'key', async (key, em) => {
    const patch = await change(key, em);
    return isRefusal(patch) ? patch : em.assign(key, patch);
  });
  return changeCached(deps, acting, { action, merchantId, id }, inForce);
};

/**
 * Approves a key that another person of the merchant requested. An active key is not changed.
 * Refuses with `not_found`, `scope_required` and `not_pending`.
 */
export const approveApiKey = (
  deps: KeyDeps,
  acting: PersonActing,
  named: MutationapiKeyApproveArgs,
): Promise<ApiKey | Refusal> =>
  changeKey(deps, acting, 'api_key.approve', named, async (key, em) => {
    const { subject } = acting.principal;
    const now = acting.now();
    const obstacle = approvalObstacle(key, subject, now);
    if (obstacle) return obstacle;
    if (keyStatus(key, now) === 'active') return {};
    await endReplaced(em, key, now);
    return { approvedBy: subject, approvedAt: now };
  });

/**
 * Revokes a key permanently, in every process within a second. A revoked key is not changed.
 * Refuses with `not_found`.
 */
export const revokeApiKey = (
  deps: KeyDeps,
  acting: Acting,
  named: MutationapiKeyApproveArgs,
): Promise<ApiKey | Refusal> =>
  changeKey(deps, acting, 'api_key.revoke', named, async ({ revokedAt }) => ({
    revokedAt: revokedAt ?? acting.now(),
  }));

/** The filter of `keyStatus`. */
const hasStatus = (
  status: ApiKeyStatus | null,
  now: Temporal.Instant,
): FilterQuery<InferEntity<typeof ApiKeyEntity>> => {
  const isOver = { revokedAt: null, expiresAt: { $lte: now } };
  const isLeft = {
    revokedAt: null,
    $and: [{ $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] }],
  };
  switch (status) {
    case null:
      return {};
    case 'revoked':
      return { revokedAt: { $ne: null } };
    case 'expired':
      return isOver;
    case 'pending':
      return { ...isLeft, requestedBy: { $ne: null }, approvedBy: null };
    case 'active':
      return { ...isLeft, $or: [{ requestedBy: null }, { approvedBy: { $ne: null } }] };
  }
};

/**
 * A page of a shop's keys, newest first, including revoked ones. `bad_request` for a wrong size or
 * cursor.
 */
export const listApiKeys = (
  em: EntityManager,
  { merchantId, shopId, mode = null, status = null, ...page }: ShopKey & Partial<QueryapiKeysArgs>,
  now: Temporal.Instant,
): Promise<Page<ApiKey> | Refusal> => {
  const where = { merchantId, shopId, ...given({ mode }), $and: [hasStatus(status, now)] };
  const bound = [merchantId, shopId, mode, status];
  return findPage(em, { entity: ApiKeyEntity, at: 'createdAt', where, bound }, page);
};

const noteUse: Statement = {
  name: 'api_key.note_use',
  text: `update api_key set last_used_at = $3 from unnest($1::uuid[], $2::uuid[]) as used (merchant_id, id)
    where api_key.merchant_id = used.merchant_id and api_key.id = used.id
      and (last_used_at is null or last_used_at <= $3::timestamptz - interval '1 minute') returning api_key.id`,
};

/**
 * Records that keys were used: at most one write a key and minute over all processes. Returns the
 * number of writes.
 */
export const noteKeyUse = async (
  runner: Runner,
  used: readonly { readonly merchantId: string; readonly keyId: string }[],
  now: Temporal.Instant,
): Promise<number> => {
  const sane = used.filter(({ merchantId, keyId }) => isUuid(merchantId) && isUuid(keyId));
  const written = await run(runner, noteUse, [
    sane.map(({ merchantId }) => merchantId),
    sane.map(({ keyId }) => keyId),
    now,
  ]);
  return written.length;
};
