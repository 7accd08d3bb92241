/**
 * Verifies the signatures of requests. `sha256=<hex>` covers the raw body alone, so the signature
 * of one request without a body is that of all of them. `t=<unix>,s2=<hex>` covers the time, the
 * method, the path with its query, the idempotency key and the raw body.
 */
import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { headerValues } from './header-values.ts';

/** How far the time of a signature may be from this service's time, either way. */
const signatureAge_max_s = 300;

/** A request as it was signed. */
export interface SignedRequest {
  readonly request: Pick<IncomingMessage, 'method' | 'url' | 'rawHeaders'>;
  /** The raw bytes of the body. */
  readonly body: Uint8Array;
  /** When it arrived, in milliseconds since 1970. */
  readonly arrivedAt_ms: number;
}

/** What a signature covers: the whole request, or only its body. */
export type SignatureForm = 'request' | 'body';

const bodyForm = /^sha256=([0-9a-f]{64})$/;
const requestForm = /^t=(\d{1,12}),s2=([0-9a-f]{64})$/;

/**
 * The text before the body in what is signed. Each part ends with a line feed, which no part can
 * contain.
 */
const headOf = (
  t: string,
  { method = '', url = '', rawHeaders }: SignedRequest['request'],
): string =>
  `${[t, method, url, headerValues({ rawHeaders }, 'idempotency-key').join(', ')].join('\n')}\n`;

const isEqual = (hex: string, made: Buffer): boolean =>
  timingSafeEqual(Buffer.from(hex, 'hex'), made);

/**
 * The form of a valid signature. Null when it is wrong, too old or too new, or has neither form.
 */
export const readSignature = (
  key: KeyObject,
  signature: string,
  { request, body, arrivedAt_ms }: SignedRequest,
): SignatureForm | null => {
  const [, overBody] = bodyForm.exec(signature) ?? [];
  if (overBody !== undefined)
    return isEqual(overBody, createHmac('sha256', key).update(body).digest()) ? 'body' : null;
  const [, t, overRequest] = requestForm.exec(signature) ?? [];
  if (t === undefined || overRequest === undefined) return null;
  // Node decodes the bytes of the request's head as Latin-1.
  const right = isEqual(
    overRequest,
    createHmac('sha256', key).update(headOf(t, request), 'latin1').update(body).digest(),
  );
  return right && Math.abs(Number(t) - arrivedAt_ms / 1_000) <= signatureAge_max_s
    ? 'request'
    : null;
};
