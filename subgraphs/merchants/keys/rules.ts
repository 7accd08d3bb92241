/**
 * API keys. Contract "Authentication" 2: `sk_test_<6 chars>_<secret>` and `sk_live_<6
 * chars>_<secret>`. Keys are random, so a plain SHA-256 is how they are kept.
 */
import { createHash } from 'node:crypto';
import type { Mode } from '../../kernel/rules/mode.ts';

/** SHA-256 of the whole key, hex: what the table keeps and the facade asks with. */
export const digestOf = (key: string): string => createHash('sha256').update(key).digest('hex');

const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';

const letters = (random: Uint8Array): string =>
  Array.from(random, (byte) => alphabet[byte % alphabet.length]).join('');

/** How many random bytes a key takes: 6 for its name, 32 for its secret (5.8 bits each). */
export const keyRandom_bytes = 38;

/** A key made of random bytes, and the part before the secret, by which a person recognises it. */
export const makeKey = (
  mode: Mode,
  random: Uint8Array,
): { readonly key: string; readonly prefix: string } => {
  const prefix = `sk_${mode}_${letters(random.subarray(0, 6))}`;
  return { prefix, key: `${prefix}_${letters(random.subarray(6, keyRandom_bytes))}` };
};

/**
 * A secret that a merchant signs its requests with, made of 32 random bytes (contract
 * "Authentication" 6: prefix thm_).
 */
export const makeSigningSecret = (random: Uint8Array): string => `thm_${letters(random)}`;

/** A webhook secret made of 32 random bytes (contract "Webhooks": prefix whs_). */
export const makeWebhookSecret = (random: Uint8Array): string => `whs_${letters(random)}`;
