/**
 * Who calls the REST API, and how often. Every wrong key has one answer; a key comes in one header and nowhere
 * else.
 */
import type { FastifyRequest, FastifyReply } from 'fastify';
import { authorizationOf, type Authenticator } from '../gateway/callers/authenticate.ts';
import { headerValues } from '../gateway/callers/caller-address.ts';
import type { ApiKeyHolder } from '../gateway/callers/caller.ts';
import type { RateLimit } from '../gateway/callers/limits.ts';
import {
  addressHeaders,
  costsAddress,
  rateHeaders,
  type RateLimiter,
} from '../gateway/callers/rate-limit.ts';
import type { KeyPrincipal } from '../subgraphs/platform/access/principal.ts';
import type { Logger } from '../subgraphs/platform/tracing/telemetry.ts';
import { addressBlocked, rateExceeded, refuse, type Refusal, sendRefusal } from './refusal-http.ts';

/** A merchant's key, recognised. */
export interface Caller {
  readonly principal: KeyPrincipal;
  readonly holder: ApiKeyHolder;
  readonly rateLimit: RateLimit;
}

export const timesSent = (request: FastifyRequest, name: string): number =>
  headerValues(request.raw, name).length;

/**
 * The caller, or the refusal: `unauthorized` (also for operators and buyers), `ip_not_allowed`, or
 * `unavailable` if the caller cannot be looked up. call.ts makes the checks that need the body.
 */
export const authenticate = async (
  request: FastifyRequest,
  authenticator: Pick<Authenticator, 'ofHeader'>,
  log: Logger,
): Promise<Caller | Refusal> => {
  try {
    const found = await authenticator.ofHeader(authorizationOf(request.raw), request.raw);
    if (!('principal' in found)) return found;
    const { principal, holder } = found;
    if (principal.kind === 'key' && holder)
      return { principal, holder, rateLimit: holder.rateLimit };
    const nobody = await authenticator.ofHeader(undefined, request.raw);
    return 'principal' in nobody ? refuse('unauthorized', 'an API key is required') : nobody;
  } catch (thrown) {
    log.error({ err: thrown, requestId: request.id }, 'could not look up a key');
    return refuse('unavailable', 'the service cannot check keys right now; try again');
  }
};

// The limits of the REST API: failed authentications by address, before the key; requests by
// merchant. Every answer states what is left.

export interface LimitDeps {
  readonly authenticator: Pick<Authenticator, 'isKnown'>;
  readonly limiter: RateLimiter;
}

/**
 * Refuses an address with too many failed authentications before its key is looked up. Known keys
 * pass.
 */
export const refuseAddress = (
  request: FastifyRequest,
  { authenticator, limiter }: LimitDeps,
): Refusal | null => {
  const blocked_s = limiter.blocked_s(request.raw);
  return blocked_s === 0 || authenticator.isKnown(authorizationOf(request.raw), request.raw)
    ? null
    : addressBlocked(blocked_s);
};

/** Refuses a known key from an address that failed too often to prove that it may use it. */
export const refuseKeyFromAddress = (
  request: FastifyRequest,
  { principal }: Caller,
  { limiter }: LimitDeps,
): Refusal | null => {
  const blocked_s = limiter.blocked_s(request.raw, principal.keyId);
  return blocked_s === 0 ? null : addressBlocked(blocked_s);
};

/**
 * Sends a refusal that came before the merchant's limit, with the remaining calls of the address.
 * `caller` is set if the key is known. A failed authentication counts.
 */
export const refuseReply = (
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: Refusal,
  { limiter }: LimitDeps,
  caller?: Caller,
): FastifyReply => {
  const keyId = caller?.principal.keyId;
  const nowBlocked_s = costsAddress(refusal) ? limiter.countFailure(request.raw, keyId) : 0;
  const refused = nowBlocked_s === 0 ? refusal : addressBlocked(nowBlocked_s);
  return sendRefusal(reply.headers(addressHeaders(limiter, request.raw, keyId)), refused);
};

/**
 * Takes one of the merchant's tokens and puts into the answer's headers how many are left. Refuses
 * when there was none.
 */
export const limitMerchant = async (
  reply: FastifyReply,
  { principal, rateLimit }: Caller,
  { limiter }: LimitDeps,
): Promise<Refusal | null> => {
  const taken = await limiter.take({ merchantId: principal.merchantId, rateLimit });
  reply.headers(rateHeaders(rateLimit, taken));
  return taken.granted ? null : rateExceeded(taken.retryAfter_s);
};
