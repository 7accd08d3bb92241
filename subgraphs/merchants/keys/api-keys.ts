/**
 * A shop's API keys. Contract "Authentication" 1 and 2: several to a shop, each revoked by itself;
 * the whole key is shown once and kept hashed. What is cached of a merchant's keys is forgotten in
 * every process when one is revoked: bus topic `keys`, after the commit.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { isUuid } from '../../kernel/rules/uuid.ts';
import type { Database } from '../../kernel/database/orm.ts';
import {
  behindCursor,
  newestFirst,
  readPage,
  type Page,
  type PageQuery,
} from '../../kernel/database/page.ts';
import {
  columns,
  propertyNames,
  run,
  type Runner,
  type Statement,
} from '../../kernel/database/statement.ts';
import type { Bus } from '../../kernel/service/bus.ts';
import type { Mode } from '../../kernel/rules/mode.ts';
import { isRefused, refused, type Refused } from '../../kernel/rules/refusal.ts';
import { scopes } from '../../kernel/service/access/principal.ts';
import { changeWithAudit, type Acting } from '../audit.ts';
import { ApiKeyEntity, type ApiKey } from '../entities.ts';
import { digestOf, keyRandom_bytes, makeKey } from './rules.ts';

export interface KeyParts {
  readonly database: Pick<Database, 'pool'>;
  /** Told when what is cached of a merchant's keys is no longer true. */
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
}

const keyColumns = columns(propertyNames(ApiKeyEntity));

const insertKey: Statement = {
  name: 'api_key.issue',
  text: `insert into api_key (digest, id, merchant_id, shop_id, mode, prefix, scopes, created_at)
    select $1, $2, merchant_id, id, $5, $6, $7, $8 from shop where merchant_id = $3 and id = $4 returning ${keyColumns}`,
};

/**
 * Issues a key of a shop. The whole key is in the answer and nowhere else. Refuses with `not_found`
 * or, for a wrong scope, `bad_request`.
 */
export const issueApiKey = async (
  runner: Runner,
  input: ShopKey & { readonly mode: Mode; readonly scopes?: readonly string[] | null | undefined },
  now: Temporal.Instant,
  id: string = randomUUID(),
): Promise<{ readonly issued: IssuedKey; readonly key: ApiKey } | Refused> => {
  const { merchantId, shopId, mode } = input;
  const wanted = input.scopes ?? scopes;
  const unknown = wanted.filter((scope) => !scopes.some((known) => known === scope));
  if (unknown.length > 0)
    return refused(
      'bad_request',
      `scopes: expected some of ${scopes.join(', ')}, got ${unknown.join(', ')}`,
    );
  if (!isUuid(merchantId) || !isUuid(shopId)) return noShop;
  const { key: secret, prefix } = makeKey(mode, randomBytes(keyRandom_bytes));
  const granted = scopes.filter((scope) => wanted.includes(scope));
  const [key] = await run<ApiKey>(runner, insertKey, [
    digestOf(secret),
    id,
    merchantId,
    shopId,
    mode,
    prefix,
    granted,
    now,
  ]);
  return key ? { issued: { id, secret }, key } : noShop;
};

const noShop = refused('not_found', 'there is no such shop');
const noKey = refused('not_found', 'there is no such key');

/** Issues a key for somebody at the cabinet, with its audit entry. */
export const issueAudited = (
  parts: KeyParts,
  acting: Acting,
  input: Parameters<typeof issueApiKey>[1],
): Promise<IssuedKey | Refused> => {
  const id = randomUUID();
  const action = {
    action: 'api_key.issue',
    merchantId: input.merchantId,
    subject: { kind: 'api_key', id },
  };
  return changeWithAudit(parts.database, acting, action, async (client) => {
    const made = await issueApiKey(client, input, acting.now(), id);
    return isRefused(made) ? made : { before: null, after: stateOf(made.key), result: made.issued };
  });
};

const stateOf = ({ shopId, mode, prefix, scopes: granted, revokedAt }: ApiKey) => ({
  shopId,
  mode,
  prefix,
  scopes: granted,
  revokedAt,
});

const lockKey: Statement = {
  name: 'api_key.lock',
  text: `select ${keyColumns} from api_key where merchant_id = $1 and id = $2 for update`,
};
const revokeKey: Statement = {
  name: 'api_key.revoke',
  text: `update api_key set revoked_at = coalesce(revoked_at, $3) where merchant_id = $1 and id = $2 returning ${keyColumns}`,
};

/**
 * Revokes a key for good: it works nowhere a second later. One that is revoked already stays as it
 * is. Refuses with `not_found`.
 */
export const revokeApiKey = async (
  { database, bus }: KeyParts,
  acting: Acting,
  { merchantId, apiKeyId }: { readonly merchantId: string; readonly apiKeyId: string },
): Promise<ApiKey | Refused> => {
  if (!isUuid(merchantId) || !isUuid(apiKeyId)) return noKey;
  const action = {
    action: 'api_key.revoke',
    merchantId,
    subject: { kind: 'api_key', id: apiKeyId },
  };
  const revoked = await changeWithAudit(database, acting, action, async (client) => {
    const [before] = await run<ApiKey>(client, lockKey, [merchantId, apiKeyId]);
    const [after] = await run<ApiKey>(client, revokeKey, [merchantId, apiKeyId, acting.now()]);
    return before && after
      ? { before: stateOf(before), after: stateOf(after), result: after }
      : noKey;
  });
  if (!isRefused(revoked)) await bus.publish('keys', { merchantId });
  return revoked;
};

const keysOfShop: Statement = {
  name: 'api_key.of_shop',
  text: `select ${keyColumns} from api_key where merchant_id = $4 and shop_id = $5 and ${behindCursor('created_at', 'id')} ${newestFirst('created_at', 'id')}`,
};

/**
 * A page of a shop's keys, newest first, revoked ones too; `bad_request` for a wrong size or
 * cursor.
 */
export const listApiKeys = (
  runner: Runner,
  { merchantId, shopId }: ShopKey,
  page: PageQuery,
): Promise<Page<ApiKey> | Refused> => readPage(runner, keysOfShop, [merchantId, shopId], page);

const noteUse: Statement = {
  name: 'api_key.note_use',
  text: `update api_key set last_used_at = $3 from unnest($1::uuid[], $2::uuid[]) as used (merchant_id, id)
    where api_key.merchant_id = used.merchant_id and api_key.id = used.id
      and (last_used_at is null or last_used_at <= $3::timestamptz - interval '1 minute') returning api_key.id`,
};

/**
 * Notes that keys have been used just now: at most one write for a key in a minute, whoever tells
 * of it. Gives how many were written.
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
