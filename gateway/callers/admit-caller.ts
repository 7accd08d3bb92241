/**
 * Admits a caller: of REST, and of the graph over HTTP or a socket. The address's limit is checked before the
 * key, and failed authentications count against the address.
 */
import type { IncomingMessage } from 'node:http';
import { isRefusal, type Refusal } from '../../subgraphs/rules/refusal.ts';
import type { Logger } from '../../subgraphs/platform/tracing/telemetry.ts';
import { authorizationOf, type Authenticator } from './authenticate.ts';
import { type Authenticated, type WatchedConnection, emptyBody, signaturesOf } from './caller.ts';
import { costsAddress, personRateLimit, type RateLimited, type RateLimiter } from './rate-limit.ts';
import type { RateLimit, TakeResult } from './limits.ts';

export interface AdmissionDeps {
  readonly authenticator: Pick<Authenticator, 'ofHeader' | 'isKnown' | 'checkRequest'>;
  readonly limiter: RateLimiter;
  readonly log: Logger;
}

/**
 * Why a caller was not admitted: a refusal, the seconds that its address is blocked for (at all, or
 * with this key), or null when the key could not be looked up.
 */
export type NotAdmitted = Refusal | { readonly blocked_s: number; readonly keyId?: string } | null;

interface AdmissionRequest extends WatchedConnection {
  /** The raw bytes that the signature covers. */
  readonly body: Uint8Array;
}

/** A request with the credentials in its headers. Its signature covers the body. */
export const shownBy = (request: IncomingMessage, body = emptyBody): AdmissionRequest => ({
  request,
  authorization: authorizationOf(request),
  signatures: signaturesOf(request),
  body,
  arrivedAt_ms: Date.now(),
});

/**
 * The caller of these credentials, or the refusal, as far as it can be decided before the body
 * arrives. Null if the key could not be looked up, which is logged.
 */
export const recogniseCaller = async (
  { request, authorization }: Pick<AdmissionRequest, 'request' | 'authorization'>,
  { authenticator, limiter, log }: AdmissionDeps,
  requestId?: string,
): Promise<Authenticated | NotAdmitted> => {
  const blocked_s = limiter.blocked_s(request);
  if (blocked_s > 0 && !authenticator.isKnown(authorization, request)) return { blocked_s };
  try {
    const caller = await authenticator.ofHeader(authorization, request);
    if (isRefusal(caller)) {
      const nowBlocked_s = costsAddress(caller) ? limiter.countFailure(request) : 0;
      return nowBlocked_s > 0 ? { blocked_s: nowBlocked_s } : caller;
    }
    const keyId = caller.holder?.keyId;
    const keyBlocked_s = keyId === undefined ? 0 : limiter.blocked_s(request, keyId);
    return keyId !== undefined && keyBlocked_s > 0 ? { blocked_s: keyBlocked_s, keyId } : caller;
  } catch (thrown) {
    log.error({ err: thrown, requestId }, 'could not look up a key');
    return null;
  }
};

/** Checks the signature over the body of a recognised caller. */
export const checkCaller = (
  caller: Authenticated,
  admission: AdmissionRequest,
  { authenticator, limiter, log }: AdmissionDeps,
  requestId?: string,
): Authenticated | NotAdmitted => {
  const { holder } = caller;
  if (!holder) return caller;
  try {
    const refusal = authenticator.checkRequest(holder, admission);
    if (refusal === null) return caller;
    const nowBlocked_s = costsAddress(refusal)
      ? limiter.countFailure(admission.request, holder.keyId)
      : 0;
    return nowBlocked_s > 0 ? { blocked_s: nowBlocked_s } : refusal;
  } catch (thrown) {
    log.error({ err: thrown, requestId }, 'could not check a signature');
    return null;
  }
};

export const isAdmitted = (caller: Authenticated | NotAdmitted): caller is Authenticated =>
  caller !== null && 'principal' in caller;

/** Recognises and checks the caller of a request whose body is there. */
export const admitCaller = async (
  admission: AdmissionRequest,
  deps: AdmissionDeps,
  requestId?: string,
): Promise<Authenticated | NotAdmitted> => {
  const caller = await recogniseCaller(admission, deps, requestId);
  return isAdmitted(caller) ? checkCaller(caller, admission, deps, requestId) : caller;
};

/** The result of taking tokens, and the limit of the bucket that they came from. */
interface TokensTaken {
  readonly limit: RateLimit;
  readonly taken: TakeResult;
}

/**
 * Takes the first token of a call, which pays for reading it. Null for the operator's own token,
 * which is not limited.
 */
export const takeToken = async (
  { holder, person }: Authenticated,
  limiter: RateLimiter,
): Promise<TokensTaken | null> => {
  const limited = holder ?? personOf(person);
  return limited && take(limiter, limited, 1);
};

/**
 * Takes what an operation costs beyond the call's first token. Null when it costs no more, or when
 * the caller is not limited. An operation that costs more than a full bucket costs a full one.
 */
export const takeCost = async (
  { holder, person }: Authenticated,
  tokens: number,
  limiter: RateLimiter,
): Promise<TokensTaken | null> => {
  const limited = holder ?? personOf(person);
  const further = Math.min(tokens, limited?.rateLimit.burst ?? 1) - 1;
  if (!limited || further <= 0) return null;
  const { limit, taken } = await take(limiter, limited, further);
  // A retry takes its first token again.
  return {
    limit,
    taken: taken.granted
      ? taken
      : { ...taken, retryAfter_s: taken.retryAfter_s + Math.ceil(1 / limit.perSecond) },
  };
};

const personOf = (person: string | undefined): RateLimited | null =>
  person === undefined ? null : { person, rateLimit: personRateLimit };

const take = async (
  limiter: RateLimiter,
  limited: RateLimited,
  tokens: number,
): Promise<TokensTaken> => ({
  limit: limited.rateLimit,
  taken: await limiter.take(limited, tokens),
});
