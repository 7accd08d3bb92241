/**
 * Keys of one purpose, while the secret key that they come from is being changed; and what they seal:
 * secrets that must be read back (signing and webhook secrets), encrypted at rest: AES-256-GCM with
 * the key's id next to the text, so that a text sealed with another key differs from a damaged one.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

const nonce_bytes = 12;
const tag_bytes = 16;

/** The id of a key, which stands in what was sealed with it. */
export const keyIdOf = (key: Buffer): string =>
  createHash('sha256').update(key).digest('hex').slice(0, 8);

/** One key or several: the first creates new values, and any of them reads existing ones. */
export type Keys = Buffer | readonly [current: Buffer, ...others: Buffer[]];

/** Every key, the current one first. */
export const allKeys = (keys: Keys): readonly [current: Buffer, ...others: Buffer[]] =>
  Buffer.isBuffer(keys) ? [keys] : keys;

/** The key that makes what is new. */
export const currentKey = (keys: Keys): Buffer => allKeys(keys)[0];

/**
 * Encrypts `text` with a 32-byte key, the current one of several. Sealing the same text twice gives
 * different results. Returns `v1.<key id>.<base64url>`.
 */
export const seal = (keys: Keys, text: string): string => {
  const key = currentKey(keys);
  const nonce = randomBytes(nonce_bytes);
  const header = `v1.${keyIdOf(key)}`;
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(header));
  const sealed = Buffer.concat([
    nonce,
    cipher.update(text, 'utf8'),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  return `${header}.${sealed.toString('base64url')}`;
};

/** The id of the key that a text was sealed with; empty when it is no sealed text. */
export const sealedWith = (sealed: string): string => sealed.split('.')[1] ?? '';

/**
 * Decrypts the result of `seal` with the matching key. Throws when no key matches or the text has
 * been changed: both are broken invariants.
 */
export const unseal = (keys: Keys, sealed: string): string => {
  const [version, keyId, text] = sealed.split('.');
  if (version !== 'v1' || text === undefined) throw new Error('not a sealed text');
  const key = allKeys(keys).find((one) => keyIdOf(one) === keyId);
  if (!key)
    throw new Error(
      `sealed with the key ${keyId}, not with ${allKeys(keys).map(keyIdOf).join(' or ')}`,
    );
  const bytes = Buffer.from(text, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonce_bytes)).setAAD(
    Buffer.from(`${version}.${keyId}`),
  );
  decipher.setAuthTag(bytes.subarray(-tag_bytes));
  return Buffer.concat([
    decipher.update(bytes.subarray(nonce_bytes, -tag_bytes)),
    decipher.final(),
  ]).toString('utf8');
};
