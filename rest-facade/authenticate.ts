/**
 * Who calls the REST API, and how often. Every wrong key has one answer; a key comes in one header and nowhere
 * else.
 */
import type { FastifyRequest, FastifyReply } from 'fastify';
import {
  isAdmitted,
  recogniseCaller,
  shownBy,
  takeToken,
  type AdmissionDeps,
  type NotAdmitted,
} from '../gateway/callers/admit-caller.ts';
import type { ApiKeyHolder } from '../gateway/callers/caller.ts';
import { addressHeaders, rateHeaders, type RateLimiter } from '../gateway/callers/rate-limit.ts';
import type { KeyPrincipal } from '../subgraphs/platform/access/principal.ts';
import { addressBlocked, rateExceeded, refuse, type Refusal, sendRefusal } from './refusal-http.ts';

/** A merchant's key, recognised. */
export interface Caller {
  readonly principal: KeyPrincipal;
  readonly holder: ApiKeyHolder;
}

/**
 * The caller, or why it is not admitted; operators and buyers are refused as strangers are. call.ts
 * makes the checks that need the body.
 */
export const authenticate = async (
  { raw, id }: FastifyRequest,
  deps: AdmissionDeps,
): Promise<Caller | NotAdmitted> => {
  const found = await recogniseCaller(shownBy(raw), deps, id);
  if (!isAdmitted(found)) return found;
  const { principal, holder } = found;
  if (principal.kind === 'key' && holder) return { principal, holder };
  const refused = await recogniseCaller({ request: raw, authorization: undefined }, deps, id);
  if (isAdmitted(refused)) throw new Error('a caller was admitted without a key');
  return refused;
};

const refusalOf = (why: NotAdmitted): Refusal => {
  if (why === null)
    return refuse('unavailable', 'the service cannot check keys right now; try again');
  return 'blocked_s' in why ? addressBlocked(why.blocked_s) : why;
};

/**
 * Sends why a caller is not admitted, with the remaining calls of the address; `keyId` is set if the
 * key is known.
 */
export const sendNotAdmitted = (
  request: FastifyRequest,
  reply: FastifyReply,
  why: NotAdmitted,
  limiter: RateLimiter,
  keyId = why && 'blocked_s' in why ? why.keyId : undefined,
): FastifyReply =>
  sendRefusal(reply.headers(addressHeaders(limiter, request.raw, keyId)), refusalOf(why));

/**
 * Takes one of the merchant's tokens and puts into the answer's headers how many are left. Refuses
 * when there was none.
 */
export const limitMerchant = async (
  reply: FastifyReply,
  caller: Caller,
  limiter: RateLimiter,
): Promise<Refusal | null> => {
  const token = await takeToken(caller, limiter);
  if (!token) return null;
  reply.headers(rateHeaders(token.limit, token.taken));
  return token.taken.granted ? null : rateExceeded(token.taken.retryAfter_s);
};
