/**
 * Who calls: a merchant's key, a person or the operator; the checks of a request with a key; and a
 * cache of the holders of API keys. A change of keys empties it at once in every process, through
 * the bus topic `keys`.
 */
import {
  createHmac,
  createSecretKey,
  randomUUID,
  timingSafeEqual,
  type KeyObject,
} from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { FindApiKeyHolderQuery } from '../../schema/generated/asked-of-merchants.ts';
import {
  headerValues,
  openAddressList,
  type AddressOf,
} from '../../subgraphs/platform/access/caller-address.ts';
import { unseal, type Keys } from '../../subgraphs/platform/access/keys.ts';
import type { Call, Principal } from '../../subgraphs/platform/access/principal.ts';
import type { Bus } from '../../subgraphs/platform/bus/bus.ts';
import { lazilyOf } from '../../subgraphs/platform/graph/lazily.ts';
import { refuse, type Refusal } from '../../subgraphs/rules/refusal.ts';

export const knownKey_ms = 30_000;
const knownKeys_max = 10_000;
export const unknownKey_ms = 1_000;
/** Separate from the known keys, so that guessing does not evict them. */
const unknownKeys_max = 1_000;

/** Whom a key belongs to, as the merchants subgraph has it. */
export type ApiKeyHolder = Readonly<NonNullable<FindApiKeyHolderQuery['apiKeyHolder']>>;

/** A caller whose bearer was accepted. */
export interface Authenticated {
  readonly principal: Principal;
  /** Present for a merchant's key. */
  readonly holder?: ApiKeyHolder;
  /** Present for a person: the name that the rate limit counts under. */
  readonly person?: string;
  /** Present for a person at the console, by cookie: the id of the session. */
  readonly session?: string;
  /** When the bearer expires, in milliseconds since 1970; absent when it never does. */
  readonly expiresAt_ms?: number;
}

/** The header `Authorization`: one value, one for each time that it was sent, or none. */
export type Authorization = string | readonly string[] | undefined;

/** Finds out whom a header speaks for: see `Authenticator.ofHeader`. */
export type AuthenticateHeader = (
  authorization: Authorization,
  request: IncomingMessage,
) => Promise<Authenticated | Refusal>;

/**
 * Reads a bearer of one form; null when the bearer has another form. Rejects when a service that
 * the answer depends on is unavailable.
 */
export type BearerReader = (bearer: string) => Promise<Authenticated | Refusal> | null;

/** A long-lived connection, with the credentials of its first request. */
export interface WatchedConnection {
  readonly request: IncomingMessage;
  readonly authorization: Authorization;
  readonly signatures: readonly string[];
  /**
   * When it began, in milliseconds since 1970. Its signature is judged by that time, however long
   * the connection lasts.
   */
  readonly arrivedAt_ms: number;
}

interface KeyHoldersDeps<Holder> {
  /**
   * Looks up the key with this digest in the merchants subgraph; null when it is unknown or
   * revoked.
   */
  readonly find: (digest: string) => Promise<Holder | null>;
  readonly bus: Bus;
  /** A monotonic clock in milliseconds. */
  readonly now_ms?: () => number;
}

/**
 * Opens the cache; `find` may add to a holder what follows from it. Concurrent lookups of one key
 * are a single lookup.
 */
export const openKeyHolders = <Holder extends ApiKeyHolder>({
  find,
  bus,
  now_ms = () => performance.now(),
}: KeyHoldersDeps<Holder>) => {
  const known = new LRUCache<string, { readonly holder: Holder; readonly until_ms: number }>({
    max: knownKeys_max,
  });
  const unknown = new LRUCache<string, number>({ max: unknownKeys_max });
  const pending = new Map<string, Promise<Holder | null>>();
  /** Of each lookup in flight, the merchants that have changed since it began. */
  const changedSince = new Set<Set<string>>();
  const listeners = new Set<(merchantId: string) => void>();

  const unsubscribe = bus.subscribe('keys', ({ merchantId }) => {
    const changedKeys = [...known.keys()].filter(
      (digest) => known.peek(digest)?.holder.merchantId === merchantId,
    );
    for (const digest of changedKeys) known.delete(digest);
    unknown.clear();
    // A lookup in flight may have been answered before the change: its result is not cached if it is
    // of this merchant, and no new caller joins it.
    for (const changed of changedSince) changed.add(merchantId);
    pending.clear();
    for (const changed of listeners) changed(merchantId);
  });

  const keep = (digest: string, holder: Holder | null): void => {
    const left_ms = Math.min(knownKey_ms, holder?.expiresInMs ?? knownKey_ms);
    if (holder) known.set(digest, { holder, until_ms: now_ms() + left_ms });
    else {
      known.delete(digest);
      unknown.set(digest, now_ms() + unknownKey_ms);
    }
  };

  const findOnce = (digest: string): Promise<Holder | null> => {
    const changed = new Set<string>();
    changedSince.add(changed);
    const answer = find(digest).then((holder) => {
      if (holder ? !changed.has(holder.merchantId) : changed.size === 0) keep(digest, holder);
      return holder;
    });
    pending.set(digest, answer);
    const forget = (): void => {
      changedSince.delete(changed);
      if (pending.get(digest) === answer) pending.delete(digest);
    };
    answer.then(forget, forget);
    return answer;
  };

  return {
    /**
     * The holder of the key with this SHA-256 (hex); null when there is none. Rejects when the
     * lookup fails.
     */
    find: async (digest: string): Promise<Holder | null> => {
      const cached = known.get(digest);
      if (cached && cached.until_ms > now_ms()) return cached.holder;
      if ((unknown.get(digest) ?? 0) > now_ms()) return null;
      return pending.get(digest) ?? findOnce(digest);
    },
    /** Whether this key was valid at its last lookup, and has not been revoked since. */
    isKnown: (digest: string): boolean => known.get(digest) !== undefined,
    /** Calls `changed` with a merchant whose keys may have changed; gives the end of that. */
    onChange: (changed: (merchantId: string) => void): (() => void) => {
      listeners.add(changed);
      return () => void listeners.delete(changed);
    },
    close: unsubscribe,
  };
};
export type KeyHolders<Holder extends ApiKeyHolder> = ReturnType<typeof openKeyHolders<Holder>>;

/* What the edge asks the subgraphs on its own behalf. */

export const edgeCall = (name: string, requestId: string = randomUUID()): Call => ({
  principal: { kind: 'edge', name },
  requestId,
  isInLane: false,
});

interface Answer<Data> {
  readonly data?: Data | null;
  readonly errors?: readonly Error[];
}

/** The data of an answer without errors; throws the first error otherwise. */
export const dataOf = <Data>({ data, errors }: Answer<Data>): Data => {
  const [error] = errors ?? [];
  if (error) throw error;
  if (!data) throw new Error('an answer without data');
  return data;
};

// The checks of a request with a merchant's key, in this order: allow-list, signature over the raw
// bytes, live mode (docs/contract.md#order-of-checks).

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

interface SignableRequest extends SignedRequest {
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
