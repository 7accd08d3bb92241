/**
 * Idempotency for a page of creations in one transaction. Each item of a batch is its own operation
 * with its own key, so repeating an interrupted batch completes it. The rows are those of
 * `idempotency.ts` and follow the same rules.
 */
import type { Refusal } from '../../rules/refusal.ts';
import {
  claiming,
  claimKeys,
  conflictWith,
  findKeys,
  isSameRequest,
  type CallClaim,
  type ClaimingCaller,
  type IdempotencyClaim,
} from './idempotency.ts';
import { IdempotencyKeyEntity } from './entities.ts';
import { emOn } from './orm-connections.ts';
import type { Runner } from './statement.ts';

/**
 * Claims the keys of calls until the transaction ends, without waiting. Returns the ids that may be
 * created: those of calls without a key, and those whose keys were free.
 */
export const tryClaims = async (
  client: Runner,
  calls: readonly CallClaim[],
): Promise<ReadonlySet<string>> => {
  const keyless = calls.filter(({ claim }) => !claim);
  const claimed = await claimKeys(client, claiming.atOnce, calls);
  return new Set([...keyless, ...claimed].map(({ resourceId }) => resourceId));
};

/** A key to claim, for what is about to be made. */
type PageClaim = IdempotencyClaim & Pick<CallClaim, 'resourceId'>;

/**
 * Claims the keys, in their order, until the transaction ends. Returns the keys that were already
 * taken, with the id of what an earlier call made, or the conflict when the key was used for
 * something else. Throws an error that `isLockTimeout` recognizes when an earlier call holds a key
 * for five seconds.
 */
export const claimPage = async (
  client: Runner,
  caller: ClaimingCaller,
  claims: readonly PageClaim[],
  at: Temporal.Instant,
): Promise<ReadonlyMap<string, string | Refusal>> => {
  const calls = claims.map((claim) => ({ caller, claim, resourceId: claim.resourceId, at }));
  const claimed = await claimKeys(client, claiming.waiting, calls);
  const mine = new Set(claimed.map(({ key }) => key));
  const others = claims.filter(({ key }) => !mine.has(key));
  if (others.length === 0) return new Map();
  const keys = others.map(({ key }) => key);
  const rows = await findKeys(client, caller, keys);
  const found = new Map(rows.map((row) => [row.key, row]));
  return new Map(
    others.map((claim) => {
      const row = found.get(claim.key);
      const isSame = row && isSameRequest(row.fingerprint, claim) && row.shopId === caller.shopId;
      return [claim.key, isSame ? row.resourceId : conflictWith(row ?? { request: null, at })];
    }),
  );
};

/** Releases the keys of calls of one merchant that produced nothing, likewise of any shop and mode. */
export const releaseUnused = async (
  client: Runner,
  calls: readonly Pick<CallClaim, 'caller' | 'claim'>[],
): Promise<void> => {
  for (const ofMode of Map.groupBy(calls, ({ caller }) => caller.mode).values()) {
    const keys = ofMode.flatMap(({ claim }) => (claim ? [claim.key] : []));
    if (ofMode[0]) await releaseKeys(client, ofMode[0].caller, keys);
  }
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
