/**
 * What a merchant's key must come with. Contract "Authentication" 2, 4 and 6, in the order of
 * decision D-09: an address of the allow-list, the signature over the raw bytes, live mode.
 * Decision D-02 for a missing signature, D-03b for one that was not asked for.
 */
import { createSecretKey, type KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { refused, type Refused } from '../../subgraphs/kernel/rules/refusal.ts';
import {
  openAddressList,
  type AddressList,
} from '../../subgraphs/kernel/service/access/address-list.ts';
import { unseal } from '../../subgraphs/kernel/service/access/vault.ts';
import type { ApiKeyHolder } from './authenticate.ts';
import type { AddressOf } from './caller-address.ts';
import { headerValues } from './header-values.ts';
import type { Keys } from '../../subgraphs/kernel/service/access/keys.ts';
import { readSignature, type SignedRequest } from './request-signature.ts';

/** In lower case, as Node compares them. */
export const signatureHeader = 'x-psp-signature';

/** The signatures that came in a request's headers: none, one, or what nobody should send. */
export const signaturesOf = (request: Pick<IncomingMessage, 'rawHeaders'>): readonly string[] =>
  headerValues(request, signatureHeader);

/**
 * A request's body when it has none: what the signature of a GET or of a WebSocket's first request
 * is over.
 */
export const emptyBody = new Uint8Array(0);

const ipNotAllowed = refused(
  'ip_not_allowed',
  "The caller's address is not on the shop's allow-list.",
);
const bothForms = 'sha256=<64 lower-case hex>, or t=<unix>,s2=<64 lower-case hex>';
const signatureRequired = refused(
  'signature_required',
  `X-PSP-Signature: required by the shop, expected ${bothForms}, got nothing`,
);
const boundSignatureRequired = refused(
  'signature_required',
  'X-PSP-Signature: required by the shop, expected t=<unix>,s2=<64 lower-case hex>, got nothing',
);
const invalidSignature = refused(
  'invalid_signature',
  `X-PSP-Signature: expected ${bothForms}: HMAC-SHA256, keyed with the shop's signing secret, of the raw body, or of the whole request at most 5 minutes from now`,
);
const notBound = refused(
  'invalid_signature',
  'X-PSP-Signature: the shop takes signatures of the whole request alone: expected t=<unix>,s2=<64 lower-case hex>',
);
const liveNotEnabled = refused('live_not_enabled', 'live mode is not enabled for this merchant');

/** Remembers what is made of a holder for as long as the holder itself is remembered. */
export const onceFor = <Made extends object>(
  make: (holder: ApiKeyHolder) => Made,
): ((holder: ApiKeyHolder) => Made) => {
  const known = new WeakMap<ApiKeyHolder, Made>();
  return (holder) => {
    const before = known.get(holder);
    if (before) return before;
    const made = make(holder);
    known.set(holder, made);
    return made;
  };
};

/**
 * Refuses a key with `ip_not_allowed` outside its shop's allow-list. An empty list restricts
 * nothing.
 */
export type CheckAddress = (holder: ApiKeyHolder, request: IncomingMessage) => Refused | null;

/** The check over addresses as `addressOf` reads them; a list is read once for each holder. */
export const openCheckAddress = (addressOf: AddressOf): CheckAddress => {
  const listOf = onceFor<AddressList>(({ allowList }) => openAddressList(allowList));
  return (holder, request) =>
    holder.allowList.length === 0 || listOf(holder)(addressOf(request)) ? null : ipNotAllowed;
};

/** What a request shows beside its key. */
export interface ShownRequest extends SignedRequest {
  /** The signatures that were sent. */
  readonly signatures: readonly string[];
}

/**
 * Refuses a request with `signature_required` or `invalid_signature`, or with `live_not_enabled`.
 */
export type CheckRequest = (holder: ApiKeyHolder, shown: ShownRequest) => Refused | null;

/** `vaultKey` opens the sealed signing secrets. */
export const openCheckRequest = (vaultKey: Keys): CheckRequest => {
  const keyOf = onceFor<KeyObject>(({ signingSecretSealed }) =>
    createSecretKey(unseal(vaultKey, signingSecretSealed ?? ''), 'utf8'),
  );
  const checkSignature: CheckRequest = (holder, shown) => {
    const [signature] = shown.signatures;
    if (signature === undefined && !holder.requireSignature) return null;
    if (signature === undefined)
      return holder.requireBoundSignature ? boundSignatureRequired : signatureRequired;
    // Without a secret no signature is right.
    if (shown.signatures.length > 1 || holder.signingSecretSealed === null) return invalidSignature;
    const form = readSignature(keyOf(holder), signature, shown);
    if (form === null) return invalidSignature;
    return form === 'body' && holder.requireBoundSignature ? notBound : null;
  };
  return (holder, shown) =>
    checkSignature(holder, shown) ??
    (holder.mode === 'live' && !holder.liveEnabled ? liveNotEnabled : null);
};
