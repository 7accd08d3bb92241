/**
 * The signatures of requests. Contract "Authentication" 6: `sha256=<hex>` is over the raw body
 * alone, so that the signature of any request without a body is that of all of them. Decision
 * D-02a: `t=<unix>,s2=<hex>` is over the moment, the method, the path with its query, the
 * idempotency key and the raw body.
 */
import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { headerValues } from './header-values.ts';

/** How far the moment of a signature may be from this service's time, either way. */
const signatureFresh_s = 300;

/** A request as it was signed. */
export interface SignedRequest {
  readonly request: Pick<IncomingMessage, 'method' | 'url' | 'rawHeaders'>;
  /** The raw bytes of the body. */
  readonly body: Uint8Array;
  /** When it came, in milliseconds since 1970. */
  readonly arrivedAt_ms: number;
}

/** Of the whole request, or of its body alone. */
export type SignatureForm = 'request' | 'body';

const bodyForm = /^sha256=([0-9a-f]{64})$/;
const requestForm = /^t=(\d{1,12}),s2=([0-9a-f]{64})$/;

/**
 * What stands before the body in the text that is signed: each part ends with a line feed, which
 * none of them can hold.
 */
const headOf = (
  t: string,
  { method = '', url = '', rawHeaders }: SignedRequest['request'],
): string =>
  `${[t, method, url, headerValues({ rawHeaders }, 'idempotency-key').join(', ')].join('\n')}\n`;

const isSame = (hex: string, made: Buffer): boolean =>
  timingSafeEqual(Buffer.from(hex, 'hex'), made);

/**
 * Which form a right signature has; null when it is wrong, too old or too new, or has neither form.
 */
export const readSignature = (
  key: KeyObject,
  signature: string,
  { request, body, arrivedAt_ms }: SignedRequest,
): SignatureForm | null => {
  const [, overBody] = bodyForm.exec(signature) ?? [];
  if (overBody !== undefined)
    return isSame(overBody, createHmac('sha256', key).update(body).digest()) ? 'body' : null;
  const [, t, overRequest] = requestForm.exec(signature) ?? [];
  if (t === undefined || overRequest === undefined) return null;
  // Node gives the bytes of the head as characters of Latin-1.
  const right = isSame(
    overRequest,
    createHmac('sha256', key).update(headOf(t, request), 'latin1').update(body).digest(),
  );
  return right && Math.abs(Number(t) - arrivedAt_ms / 1_000) <= signatureFresh_s ? 'request' : null;
};
