/**
 * The API keys of a shop (docs/contract.md#authentication). A key is shown once and stored as a
 * hash. Revoking one publishes to the bus topic `keys` after the commit; every process then drops
 * the merchant's cached keys.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { ShopEntity } from '../../kernel/database/entities.ts';
import { findPage } from '../../kernel/database/find-page.ts';
import { isUuid } from '../../kernel/rules/uuid.ts';
import { forUpdate } from '../../kernel/database/orm-connections.ts';
import type { Database } from '../../kernel/database/orm.ts';
import type { Page, PageQuery } from '../../kernel/database/page.ts';
import { run, type Runner, type Statement } from '../../kernel/database/statement.ts';
import type { Bus } from '../../kernel/service/bus.ts';
import type { Mode } from '../../kernel/rules/mode.ts';
import { isRefused, refused, type Refused } from '../../kernel/rules/refusal.ts';
import { scopes, type OperatorPrincipal } from '../../kernel/service/access/principal.ts';
import { changeEntities, type Acting, type AuditedAction } from '../audit.ts';
import { ApiKeyEntity, type ApiKey } from '../entities.ts';
import {
  approvalObstacle,
  digestOf,
  keyRandom_bytes,
  keyStatus,
  makeKey,
  requesterOf,
} from './rules.ts';

export interface KeyParts {
  readonly database: Pick<Database, 'pool' | 'emOf'>;
  /** Notified when cached keys of a merchant are stale. */
  readonly bus: Bus;
}

/** Which shop. */
export interface ShopKey {
  readonly merchantId: string;
  readonly shopId: string;
}

/** A key as it is shown once. */
export interface IssuedKey {
  readonly id: string;
  readonly secret: string;
  readonly status: 'active' | 'pending';
}

const noShop = refused('not_found', 'there is no such shop');
const noKey = refused('not_found', 'there is no such key');

/** What a key is issued for; no scopes are all scopes. */
export interface KeyInput extends ShopKey {
  readonly mode: Mode;
  readonly scopes?: readonly string[] | null | undefined;
}

/**
 * Issues a key of a shop. A key that can pay out is pending when one person of the merchant
 * requests it. Only the answer contains the whole key. Refuses with `not_found` or, for a wrong
 * scope, `bad_request`.
 */
export const issueApiKey = async (
  { database }: Pick<KeyParts, 'database'>,
  acting: Acting,
  { merchantId, shopId, mode, scopes: asked }: KeyInput,
): Promise<IssuedKey | Refused> => {
  const wanted = asked ?? scopes;
  const unknown = wanted.filter((scope) => !scopes.some((known) => known === scope));
  if (unknown.length > 0)
    return refused(
      'bad_request',
      `scopes: expected some of ${scopes.join(', ')}, got ${unknown.join(', ')}`,
    );
  if (!isUuid(shopId)) return noShop;
  const id = randomUUID();
  const { principal } = acting;
  const requestedBy = requesterOf(wanted, principal.kind === 'operator' ? principal : null);
  const action: AuditedAction = {
    action: 'api_key.issue',
    merchantId,
    subject: { kind: 'api_key', id },
  };
  return changeEntities(database, acting, action, async (em) => {
    if ((await em.count(ShopEntity, { merchantId, id: shopId })) === 0) return noShop;
    const { key: secret, prefix } = makeKey(mode, randomBytes(keyRandom_bytes));
    em.create(ApiKeyEntity, {
      digest: digestOf(secret),
      id,
      merchantId,
      shopId,
      mode,
      prefix,
      scopes: scopes.filter((scope) => wanted.includes(scope)),
      createdAt: acting.now(),
      lastUsedAt: null,
      revokedAt: null,
      requestedBy,
      approvedBy: null,
      approvedAt: null,
    });
    return { id, secret, status: requestedBy === null ? 'active' : 'pending' };
  });
};

/** Which key. */
interface NamedKey {
  readonly merchantId: string;
  readonly apiKeyId: string;
}

/** Applies `change` to a locked key; every process drops its cached copy. */
const changeKey = async (
  { database, bus }: KeyParts,
  acting: Acting,
  name: 'api_key.approve' | 'api_key.revoke',
  { merchantId, apiKeyId: id }: NamedKey,
  change: (key: ApiKey) => Partial<ApiKey> | Refused,
): Promise<ApiKey | Refused> => {
  if (!isUuid(id)) return noKey;
  const action: AuditedAction = { action: name, merchantId, subject: { kind: 'api_key', id } };
  const changed = await changeEntities(database, acting, action, async (em) => {
    const key = await em.findOne(ApiKeyEntity, { merchantId, id }, forUpdate);
    if (!key) return noKey;
    const patch = change(key);
    return isRefused(patch) ? patch : em.assign(key, patch);
  });
  if (!isRefused(changed)) await bus.publish('keys', { merchantId });
  return changed;
};

/**
 * Approves a key that another person of the merchant requested. An active key is not changed.
 * Refuses with `not_found`, `scope_required` and `not_pending`.
 */
export const approveApiKey = (
  parts: KeyParts,
  acting: Acting & { readonly principal: OperatorPrincipal },
  named: NamedKey,
): Promise<ApiKey | Refused> =>
  changeKey(parts, acting, 'api_key.approve', named, (key) => {
    const { subject } = acting.principal;
    const obstacle = approvalObstacle(key, subject);
    if (obstacle) return obstacle;
    return keyStatus(key) === 'active' ? {} : { approvedBy: subject, approvedAt: acting.now() };
  });

/**
 * Revokes a key permanently, in every process within a second. A revoked key is not changed.
 * Refuses with `not_found`.
 */
export const revokeApiKey = (
  parts: KeyParts,
  acting: Acting,
  named: NamedKey,
): Promise<ApiKey | Refused> =>
  changeKey(parts, acting, 'api_key.revoke', named, ({ revokedAt }) => ({
    revokedAt: revokedAt ?? acting.now(),
  }));

/**
 * A page of a shop's keys, newest first, including revoked ones. `bad_request` for a wrong size or
 * cursor.
 */
export const listApiKeys = (
  em: EntityManager,
  { merchantId, shopId }: ShopKey,
  page: PageQuery,
): Promise<Page<ApiKey> | Refused> => {
  const where = { merchantId, shopId };
  const bound = ['api_key.of_shop', [merchantId, shopId]] as const;
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
