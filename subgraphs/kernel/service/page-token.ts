/**
 * The token in a hosted page's address: which payment, signed, so that it cannot be guessed and needs no table.
 * 16 bytes merchant id, 16 bytes payment id, 16 bytes of HMAC-SHA256, in base64url (64 characters).
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export interface PageSubject {
  readonly merchantId: string;
  readonly paymentId: string;
}

const signature = (secret: Buffer, ids: Buffer): Buffer => createHmac('sha256', secret).update(ids).digest().subarray(0, 16);

const bytesOf = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex');

const uuidOf = (bytes: Buffer): string => bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** The token of a payment's page. The same payment always has the same token. */
export const signPageToken = (secret: Buffer, subject: PageSubject): string => {
  const ids = Buffer.concat([bytesOf(subject.merchantId), bytesOf(subject.paymentId)]);
  return Buffer.concat([ids, signature(secret, ids)]).toString('base64url');
};

/** The payment that a token is for; null when the token is not ours. */
export const readPageToken = (secret: Buffer, token: string): PageSubject | null => {
  if (!/^[A-Za-z0-9_-]{64}$/.test(token)) return null;
  const bytes = Buffer.from(token, 'base64url');
  const ids = bytes.subarray(0, 32);
  if (!timingSafeEqual(signature(secret, ids), bytes.subarray(32))) return null;
  return { merchantId: uuidOf(ids.subarray(0, 16)), paymentId: uuidOf(ids.subarray(16)) };
};
