/**
 * Keys of one purpose, while the secret key that they come from is being changed; and what they seal:
 * secrets that must be read back (signing and webhook secrets), encrypted at rest: AES-256-GCM with
 * the key's id next to the text, so that a text sealed with another key differs from a damaged one;
 * and the addresses of hosted pages, which they sign.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  randomBytes,
  createHmac,
  timingSafeEqual,
} from 'node:crypto';
import { uuidOf } from '../../rules/ids.ts';

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

// Where a payment's hosted page is. The token in its address names the payment and is signed, so
// that it cannot be guessed and needs no table. 16 bytes merchant id, 16 bytes payment id, 16 bytes of HMAC-SHA256,
// in base64url (64 characters).

interface PageSubject {
  readonly merchantId: string;
  readonly paymentId: string;
}

/** Ids and signature are hex texts here: crypto is faster with them than with buffers. */
const signature = (secret: Buffer, ids: string): string =>
  createHmac('sha256', secret).update(ids, 'hex').digest('hex').slice(0, 32);

/**
 * The token of a payment's page. The same payment has the same token until the secret key is
 * changed; tokens of the previous key remain valid.
 */
export const signPageToken = (secret: Keys, subject: PageSubject): string => {
  const ids = `${subject.merchantId}${subject.paymentId}`.replaceAll('-', '');
  return Buffer.from(`${ids}${signature(currentKey(secret), ids)}`, 'hex').toString('base64url');
};

/** The payment that a token is for; null when the token is not ours. */
export const readPageToken = (secret: Keys, token: string): PageSubject | null => {
  if (!/^[A-Za-z0-9_-]{64}$/.test(token)) return null;
  const hex = Buffer.from(token, 'base64url').toString('hex');
  const ids = hex.slice(0, 64);
  const signed = Buffer.from(hex.slice(64));
  if (!allKeys(secret).some((key) => timingSafeEqual(Buffer.from(signature(key, ids)), signed)))
    return null;
  return { merchantId: uuidOf(ids.slice(0, 32)), paymentId: uuidOf(ids.slice(32)) };
};

export interface PageDeps {
  /** Address of the hosted pages, without a slash at the end. */
  readonly publicUrl: string;
  readonly pageSecret: Keys;
}

/**
 * Joined, for the reason that `rfc3339` has: one text in parts slows the writing of the whole
 * answer.
 */
export const pageAddress = (
  { publicUrl, pageSecret }: PageDeps,
  { merchantId, paymentId }: PageSubject,
): string => [publicUrl, 'pay', signPageToken(pageSecret, { merchantId, paymentId })].join('/');
