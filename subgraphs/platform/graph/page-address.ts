/**
 * Where a payment's hosted page is. The token in its address names the payment and is signed, so that it cannot be
 * guessed and needs no table. 16 bytes merchant id, 16 bytes payment id, 16 bytes of HMAC-SHA256,
 * in base64url (64 characters).
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { allKeys, currentKey, type Keys } from '../access/keys.ts';

interface PageSubject {
  readonly merchantId: string;
  readonly paymentId: string;
}

/** Ids and signature are hex texts here: crypto is faster with them than with buffers. */
const signature = (secret: Buffer, ids: string): string =>
  createHmac('sha256', secret).update(ids, 'hex').digest('hex').slice(0, 32);

const uuidOf = (hex: string): string =>
  hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

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
