/**
 * API keys (docs/contract.md#authentication). Keys are random, so a plain SHA-256 is enough to
 * store them.
 */
import { createHash } from 'node:crypto';
import type { Mode } from '../../rules/mode.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';

/** SHA-256 of the whole key, hex: stored in the table and sent by the facade. */
export const digestOf = (key: string): string => createHash('sha256').update(key).digest('hex');

const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';

const letters = (random: Uint8Array): string =>
  Array.from(random, (byte) => alphabet[byte % alphabet.length]).join('');

/** How many random bytes a key takes: 6 for its name, 32 for its secret (5.8 bits each). */
export const keyRandom_bytes = 38;

/** A key made of random bytes, and the part before the secret, which identifies it to a person. */
export const makeKey = (
  mode: Mode,
  random: Uint8Array,
): { readonly key: string; readonly prefix: string } => {
  const prefix = `sk_${mode}_${letters(random.subarray(0, 6))}`;
  return { prefix, key: `${prefix}_${letters(random.subarray(6, keyRandom_bytes))}` };
};

/**
 * A secret with which a merchant signs requests (docs/contract.md#request-signatures), made of 32
 * random bytes.
 */
export const makeSigningSecret = (random: Uint8Array): string => `thm_${letters(random)}`;

/** A secret for webhooks (docs/contract.md#webhook-target), made of 32 random bytes. */
export const makeWebhookSecret = (random: Uint8Array): string => `whs_${letters(random)}`;

/** The fields that decide whether a key works. */
interface KeyState {
  readonly requestedBy: string | null;
  readonly approvedBy: string | null;
  readonly expiresAt: Temporal.Instant | null;
  readonly revokedAt: Temporal.Instant | null;
}

/** Who issues a key. */
interface Issuing {
  readonly subject: string;
  /** Null: an operator of the platform. */
  readonly merchantId: string | null;
}

/**
 * The person whose key needs approval; null when the key works at once. A person who alone issued a
 * key for payouts could pay out alone, bypassing the approval of drafts.
 */
export const requesterOf = (scopes: readonly string[], issuing: Issuing | null): string | null =>
  issuing !== null &&
  issuing.merchantId !== null &&
  scopes.some((scope) => scope.startsWith('api:payouts:'))
    ? issuing.subject
    : null;

/** Whether a key works. */
export const keyStatus = (
  { requestedBy, approvedBy, expiresAt, revokedAt }: KeyState,
  now: Temporal.Instant,
): 'pending' | 'active' | 'expired' | 'revoked' => {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt !== null && Temporal.Instant.compare(expiresAt, now) <= 0) return 'expired';
  return requestedBy === null || approvedBy !== null ? 'active' : 'pending';
};

export type ApiKeyStatus = ReturnType<typeof keyStatus>;

/** Why a person may not approve a key; null when approval is allowed or not needed. */
export const approvalObstacle = (
  key: KeyState,
  subject: string,
  now: Temporal.Instant,
): Refusal | null => {
  const status = keyStatus(key, now);
  if (status === 'revoked' || status === 'expired')
    return refuse('not_pending', `only a pending key can be approved; this one is ${status}`);
  return status === 'pending' && key.requestedBy === subject
    ? refuse('scope_required', 'another person must approve it: you requested this key')
    : null;
};

export const keyName_max_chars = 60;
/** The longest time in which a replaced key still works. */
export const keyOverlap_max_h = 168;

/** When a replaced key ends: after the overlap, or at its own expiry if that is earlier. */
export const endOfReplaced = (
  { expiresAt }: Pick<KeyState, 'expiresAt'>,
  overlap_h: number,
  now: Temporal.Instant,
): Temporal.Instant => {
  const end = now.add({ hours: overlap_h });
  return expiresAt !== null && Temporal.Instant.compare(expiresAt, end) < 0 ? expiresAt : end;
};
