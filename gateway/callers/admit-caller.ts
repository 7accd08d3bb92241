/**
 * Lets a caller of the graph in, over HTTP or a socket: the address's limit stands before the key
 * (decision D-09), and failures count against the address.
 */
import { isRefused, type Refused } from '../../subgraphs/kernel/rules/refusal.ts';
import type { Logger } from '../../subgraphs/kernel/service/tracing/telemetry.ts';
import type { Authenticated, Authenticator, WatchedConnection } from './authenticate.ts';
import { personRateLimit, type RateLimited, type RateLimiter } from './rate-limit.ts';
import type { RateLimit, Taken } from './token-bucket.ts';

export interface AdmissionParts {
  readonly authenticator: Pick<Authenticator, 'ofHeader' | 'holds' | 'checkRequest'>;
  readonly limiter: RateLimiter;
  readonly log: Logger;
}

/** Why nobody was let in: the refusal, the address that must wait, or nobody who could say. */
export type NotAdmitted = Refused | { readonly barred_s: number } | null;

/** What a caller shows of itself. */
export interface Shown extends WatchedConnection {
  /** The raw bytes that the signature is over. */
  readonly body: Uint8Array;
}

/**
 * Who shows this, or why nobody was let in. Null when the key could not be looked up, which is
 * logged.
 */
export const admitCaller = async (
  shown: Shown,
  { authenticator, limiter, log }: AdmissionParts,
  requestId?: string,
): Promise<Authenticated | NotAdmitted> => {
  const { request, authorization } = shown;
  const barred_s = limiter.barred_s(request);
  if (barred_s > 0 && !authenticator.holds(authorization)) return { barred_s };
  try {
    const caller = await authenticator.ofHeader(authorization, request);
    if (isRefused(caller)) {
      const tooOften_s = isFailure(caller) ? limiter.failed(request) : 0;
      return tooOften_s > 0 ? { barred_s: tooOften_s } : caller;
    }
    const { holder } = caller;
    if (!holder) return caller;
    const keyBarred_s = limiter.barred_s(request, holder.keyId);
    if (keyBarred_s > 0) return { barred_s: keyBarred_s };
    const refusal = authenticator.checkRequest(holder, shown);
    const tooOften_s = refusal && isFailure(refusal) ? limiter.failed(request, holder.keyId) : 0;
    return tooOften_s > 0 ? { barred_s: tooOften_s } : (refusal ?? caller);
  } catch (thrown) {
    log.error({ err: thrown, requestId }, 'a key could not be looked up');
    return null;
  }
};

/** Whether somebody failed to prove who it is. */
const isFailure = ({ code }: Refused): boolean =>
  ['unauthorized', 'ip_not_allowed', 'signature_required', 'invalid_signature'].includes(code);

/** Tokens that were asked for, and the bucket that they come out of. */
export interface TokensTaken {
  readonly limit: RateLimit;
  readonly taken: Taken;
}

/**
 * Takes the first token of a call, which reads it; null for the operator's own token, which is not
 * limited.
 */
export const takeToken = async (
  { holder, person }: Authenticated,
  limiter: RateLimiter,
): Promise<TokensTaken | null> => {
  const limited = holder ?? personOf(person);
  return limited && take(limiter, limited, 1);
};

/**
 * Takes what an operation costs beyond the token that its call has taken; null when nothing, or
 * when the caller is not limited. What costs more than a full bucket costs a full one.
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
  // The next try takes its first token once more.
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
  taken: await limiter.takeOf(limited, tokens),
});
