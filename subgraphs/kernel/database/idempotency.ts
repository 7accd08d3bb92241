/**
 * Idempotency keys. Decisions D-20 to D-24: a key is unique per merchant and mode, its row is written by the statement of the effect,
 * a replay answers with the object as it is now, and a call refused before anything was created leaves the key free.
 */
import { createHash } from 'node:crypto';
import { refused, type Refused } from '../rules/refusal.ts';
import type { Mode } from '../rules/mode.ts';
import { run, type Runner, type Statement } from './statement.ts';

/** What a caller sent to make a creation safe to repeat. */
export interface IdempotencyClaim {
  readonly key: string;
  readonly fingerprint: string;
}

export const idempotencyKeyMax_chars = 64;

/** Reads the argument of a mutation; the fingerprint is made of the input when the caller gave none. Null without a key. */
export const claimOf = (
  argument: { readonly key: string; readonly fingerprint?: string | null | undefined } | null | undefined,
  operation: string,
  input: unknown,
): IdempotencyClaim | Refused | null => {
  if (!argument) return null;
  const { key } = argument;
  if (key.length < 1 || key.length > idempotencyKeyMax_chars) {
    return refused('bad_request', `Idempotency-Key must have 1 to ${idempotencyKeyMax_chars} characters, got ${key.length}`);
  }
  const meaning = (): string => JSON.stringify([operation, input], (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
  return { key, fingerprint: argument.fingerprint ?? createHash('sha256').update(meaning()).digest('hex') };
};

/** SQL: claims the key in `key` (null: no claim). It waits for another claim that is not committed yet, and has no row when the key is taken. */
export const insertClaim = (p: {
  merchantId: string;
  mode: string;
  key: string;
  fingerprint: string;
  shopId: string;
  resourceId: string;
  at: string;
}): string =>
  `insert into idempotency_key (merchant_id, mode, key, fingerprint, shop_id, resource_id, created_at)
   select ${p.merchantId}::uuid, ${p.mode}::text, ${p.key}::text, ${p.fingerprint}::text, ${p.shopId}::uuid, ${p.resourceId}::uuid, ${p.at}::timestamptz
   where ${p.key}::text is not null on conflict do nothing returning 1`;

const find: Statement = {
  name: 'idempotency_find',
  text: `select fingerprint, shop_id as "shopId", resource_id as "resourceId" from idempotency_key where merchant_id = $1 and mode = $2 and key = $3`,
};

/** The object that an earlier call with this key created, `idempotent_conflict` when that call asked for something else, null when there was none. */
export const findReplay = async (
  runner: Runner,
  caller: { readonly merchantId: string; readonly shopId: string; readonly mode: Mode },
  claim: IdempotencyClaim,
): Promise<string | Refused | null> => {
  const [row] = await run<{ fingerprint: string; shopId: string; resourceId: string }>(runner, find, [caller.merchantId, caller.mode, claim.key]);
  if (!row) return null;
  if (row.fingerprint === claim.fingerprint && row.shopId === caller.shopId) return row.resourceId;
  return refused('idempotent_conflict', 'this Idempotency-Key was used with a different request');
};
