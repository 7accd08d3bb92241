/**
 * The limits of the REST API: failed authentications by address, before the key; requests by
 * merchant. Every answer states what is left.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { authorizationOf, type Authenticator } from '../gateway/callers/authenticate.ts';
import {
  addressHeaders,
  blockedMessage,
  costsAddress,
  rateHeaders,
  rateMessage,
  type RateLimiter,
} from '../gateway/callers/rate-limit.ts';
import type { Caller } from './authenticate.ts';
import { rateLimited, sendRefusal, type Refusal } from './refusal-http.ts';

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
    : rateLimited(blockedMessage(blocked_s), blocked_s);
};

/** Refuses a known key from an address that failed too often to prove that it may use it. */
export const refuseKeyFromAddress = (
  request: FastifyRequest,
  { principal }: Caller,
  { limiter }: LimitDeps,
): Refusal | null => {
  const blocked_s = limiter.blocked_s(request.raw, principal.keyId);
  return blocked_s === 0 ? null : rateLimited(blockedMessage(blocked_s), blocked_s);
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
  const refused =
    nowBlocked_s === 0 ? refusal : rateLimited(blockedMessage(nowBlocked_s), nowBlocked_s);
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
  return taken.granted ? null : rateLimited(rateMessage(taken.retryAfter_s), taken.retryAfter_s);
};
