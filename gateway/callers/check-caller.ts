/**
 * The checks of a request with a merchant's key, in this order: allow-list, signature over the raw
 * bytes, live mode (docs/contract.md#order-of-checks).
 */
import { createSecretKey, type KeyObject, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { refuse, type Refusal } from '../../subgraphs/rules/refusal.ts';
import { unseal, type Keys } from '../../subgraphs/platform/access/keys.ts';
import { lazilyOf } from '../../subgraphs/platform/graph/lazily.ts';
import type { ApiKeyHolder } from './caller.ts';
import { openAddressList, type AddressOf, headerValues } from '../../subgraphs/platform/access/caller-address.ts';

/*
 * Verifies the signatures of requests. `sha256=<hex>` covers the raw body alone, so the signature
 * of one request without a body is that of all of them. `t=<unix>,s2=<hex>` covers the time, the
 * method, the path with its query, the idempotency key and the raw body.
 */

/** How far the time of a signature may be from this service's time, either way. */
const signatureAge_max_s = 300;

interface SignedRequest {
  readonly request: Pick<IncomingMessage, 'method' | 'url' | 'rawHeaders'>;
  /** The raw bytes of the body. */
  readonly body: Uint8Array;
  /** When it arrived, in milliseconds since 1970. */
  readonly arrivedAt_ms: number;
}

/** What a signature covers: the whole request, or only its body. */
type SignatureForm = 'request' | 'body';

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
const readSignature = (
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

/** In lower case, like the names of Node's headers. */
export const signatureHeader = 'x-psp-signature';

/** The signatures in a request's headers: usually none or one. */
export const signaturesOf = (request: Pick<IncomingMessage, 'rawHeaders'>): readonly string[] =>
  headerValues(request, signatureHeader);

/**
 * The body of a request that has none. The signature of a GET or of a WebSocket's first request
 * covers it.
 */
export const emptyBody: Uint8Array = new Uint8Array(0);

const ipNotAllowed = refuse(
  'ip_not_allowed',
  "The caller's address is not on the shop's allow-list.",
);
const signatureForms = 'sha256=<64 lower-case hex>, or t=<unix>,s2=<64 lower-case hex>';
const signatureRequired = refuse(
  'signature_required',
  `X-PSP-Signature: required by the shop, expected ${signatureForms}, got nothing`,
);
const boundSignatureRequired = refuse(
  'signature_required',
  'X-PSP-Signature: required by the shop, expected t=<unix>,s2=<64 lower-case hex>, got nothing',
);
const invalidSignature = refuse(
  'invalid_signature',
  `X-PSP-Signature: expected ${signatureForms}: HMAC-SHA256, keyed with the shop's signing secret, of the raw body, or of the whole request at most 5 minutes from now`,
);
const bodySignatureRefused = refuse(
  'invalid_signature',
  'X-PSP-Signature: the shop accepts only signatures of the whole request: expected t=<unix>,s2=<64 lower-case hex>',
);
const liveNotEnabled = refuse('live_not_enabled', 'live mode is not enabled for this merchant');

/**
 * Refuses a key with `ip_not_allowed` outside its shop's allow-list. An empty list restricts
 * nothing.
 */
type CheckAddress = (holder: ApiKeyHolder, request: IncomingMessage) => Refusal | null;

/**
 * Opens the check of addresses as `addressOf` reads them. A list is parsed once for each holder.
 */
export const openCheckAddress = (addressOf: AddressOf): CheckAddress => {
  const listOf = lazilyOf(({ allowList }: ApiKeyHolder) => openAddressList(allowList));
  return (holder, request) =>
    holder.allowList.length === 0 || listOf(holder)(addressOf(request)) ? null : ipNotAllowed;
};

export interface SignableRequest extends SignedRequest {
  /** The signatures in its headers, or in the first message of a socket. */
  readonly signatures: readonly string[];
}

/**
 * Refuses a request with `signature_required` or `invalid_signature`, or with `live_not_enabled`.
 */
export type CheckRequest = (holder: ApiKeyHolder, request: SignableRequest) => Refusal | null;

/** Opens the check. `vaultKey` unseals the signing secrets. */
export const openCheckRequest = (vaultKey: Keys): CheckRequest => {
  const keyOf = lazilyOf(({ signingSecretSealed }: ApiKeyHolder) =>
    createSecretKey(unseal(vaultKey, signingSecretSealed ?? ''), 'utf8'),
  );
  const checkSignature: CheckRequest = (holder, request) => {
    const [signature] = request.signatures;
    if (signature === undefined && !holder.requireSignature) return null;
    if (signature === undefined)
      return holder.requireBoundSignature ? boundSignatureRequired : signatureRequired;
    // Without a secret no signature can be valid.
    if (request.signatures.length > 1 || holder.signingSecretSealed === null)
      return invalidSignature;
    const form = readSignature(keyOf(holder), signature, request);
    if (form === null) return invalidSignature;
    return form === 'body' && holder.requireBoundSignature ? bodySignatureRefused : null;
  };
  return (holder, request) =>
    checkSignature(holder, request) ??
    (holder.mode === 'live' && !holder.liveEnabled ? liveNotEnabled : null);
};
