/**
 * Idempotency for a page of creations in one transaction. Each item of a batch is its own operation
 * with its own key, so repeating an interrupted batch completes it. The rows are those of
 * `idempotency.ts` and follow the same rules.
 */
import type { Refusal } from '../../rules/refusal.ts';
import {
  conflictWith,
  insertClaim,
  isSameRequest,
  tryKey,
  waitForKey,
  type ClaimingCaller,
  type FirstUse,
  type IdempotencyClaim,
} from './idempotency.ts';
import { IdempotencyKeyEntity } from './entities.ts';
import { emOn } from './orm-connections.ts';
import { asRow, run, type Runner, type Statement } from './statement.ts';

/** A key to claim, for what is about to be made. */
interface PageClaim extends Omit<IdempotencyClaim, 'asksLater'> {
  readonly resourceId: string;
}

// In the order given: of two equal batches the second waits at its first item, holding nothing that
// the first one needs.
const claimAll: Statement = {
  name: 'idempotency.claim_page',
  text: `insert into idempotency_key (merchant_id, mode, key, fingerprint, shop_id, resource_id, created_at, request)
    select $1::uuid, $2::text, row.key, row.fingerprint, $3, row.resource_id, $4, row.request
    from rows from (jsonb_to_recordset($5::jsonb) as (key text, fingerprint text, "resourceId" uuid, request text)) with ordinality as row(key, fingerprint, resource_id, request, place)
    where ${waitForKey({ merchantId: '$1', mode: '$2', key: 'row.key' })}
    order by row.place on conflict do nothing returning key`,
};

/** A creation in a batch of calls; the calls may belong to several shops. */
export interface CallClaim {
  readonly caller: ClaimingCaller;
  /** Null: no key was sent. */
  readonly claim: IdempotencyClaim | null;
  readonly resourceId: string;
  readonly at: Temporal.Instant;
}

const tryAll: Statement = {
  name: 'idempotency.try_page',
  text: `with sent as materialized (select * from jsonb_to_recordset($1::jsonb)
      as sent (merchant_id uuid, mode text, key text, fingerprint text, shop_id uuid, resource_id uuid, at timestamptz, request text, asks_later boolean)),
    claimed as (${insertClaim(
      {
        merchantId: 'sent.merchant_id',
        mode: 'sent.mode',
        key: 'sent.key',
        fingerprint: 'sent.fingerprint',
        shopId: 'sent.shop_id',
        resourceId: 'sent.resource_id',
        at: 'sent.at',
        request: 'sent.request',
        asksLater: 'sent.asks_later',
      },
      { from: 'from sent', held: tryKey },
    )}) select resource_id as "resourceId" from claimed`,
};

/**
 * Claims the keys of calls until the transaction ends, without waiting. Returns the ids that may be
 * created: those of calls without a key, and those whose keys were free.
 */
export const tryClaims = async (
  client: Runner,
  calls: readonly CallClaim[],
): Promise<ReadonlySet<string>> => {
  const free = calls.filter(({ claim }) => !claim).map(({ resourceId }) => resourceId);
  const rows = calls.flatMap(({ caller: { merchantId, mode, shopId }, claim, resourceId, at }) =>
    claim ? [asRow({ ...claim, merchantId, mode, shopId, resourceId, at })] : [],
  );
  if (rows.length === 0) return new Set(free);
  const claimed = await run<{ resourceId: string }>(client, tryAll, [JSON.stringify(rows)]);
  return new Set([...free, ...claimed.map(({ resourceId }) => resourceId)]);
};

const findAll: Statement = {
  name: 'idempotency.find_page',
  text: `select key, fingerprint, shop_id as "shopId", resource_id as "resourceId", request, created_at as at from idempotency_key where merchant_id = $1 and mode = $2 and key = any($3)`,
};

interface TakenRow extends FirstUse {
  readonly key: string;
}

/**
 * Claims the keys, in their order, until the transaction ends. Returns the keys that were already
 * taken, with the id of what an earlier call made, or the conflict when the key was used for
 * something else. Throws an error that `isLockTimeout` recognizes when an earlier call holds a key
 * for five seconds.
 */
export const claimPage = async (
  client: Runner,
  { merchantId, shopId, mode }: ClaimingCaller,
  claims: readonly PageClaim[],
  at: Temporal.Instant,
): Promise<ReadonlyMap<string, string | Refusal>> => {
  const claimed = await run<{ key: string }>(client, claimAll, [
    merchantId,
    mode,
    shopId,
    at,
    JSON.stringify(claims),
  ]);
  const mine = new Set(claimed.map(({ key }) => key));
  const others = claims.filter(({ key }) => !mine.has(key));
  if (others.length === 0) return new Map();
  const rows = await run<TakenRow>(client, findAll, [
    merchantId,
    mode,
    others.map(({ key }) => key),
  ]);
  const found = new Map(rows.map((row) => [row.key, row]));
  return new Map(
    others.map((claim) => {
      const row = found.get(claim.key);
      const isSame = row && isSameRequest(row.fingerprint, claim) && row.shopId === shopId;
      return [claim.key, isSame ? row.resourceId : conflictWith(row ?? { request: null, at })];
    }),
  );
};

/** Releases claimed keys that produced nothing, in the transaction that claimed them. */
export const releaseKeys = async (
  client: Runner,
  { merchantId, mode }: ClaimingCaller,
  keys: readonly string[],
): Promise<void> => {
  const claimed = { merchantId, mode, key: { $in: [...keys] } };
  if (keys.length > 0) await emOn(client).nativeDelete(IdempotencyKeyEntity, claimed);
};
