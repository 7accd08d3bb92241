/** Lets a caller of the graph in, over HTTP or a socket: the address's limit stands before the key (decision D-09), and failures count against the address. */
import type { IncomingMessage } from 'node:http';
import { isRefused, type Refused } from '../subgraphs/kernel/rules/refusal.ts';
import type { Logger } from '../subgraphs/kernel/service/telemetry.ts';
import type { Authenticated, Authenticator } from './authenticate.ts';
import type { RateLimiter } from './rate-limit.ts';
import type { RateLimit, Taken } from './token-bucket.ts';

export interface AdmissionParts {
  readonly authenticator: Pick<Authenticator, 'ofHeader' | 'holds'>;
  readonly limiter: RateLimiter;
  readonly log: Logger;
}

/** Why nobody was let in: the refusal, the address that must wait, or nobody who could say. */
export type NotAdmitted = Refused | { readonly barred_s: number } | null;

/** Who calls with this `Authorization`, or why nobody was let in. Null when the key could not be looked up, which is logged. */
export const admitCaller = async (
  request: IncomingMessage,
  authorization: string | readonly string[] | undefined,
  { authenticator, limiter, log }: AdmissionParts,
  requestId?: string,
): Promise<Authenticated | NotAdmitted> => {
  const barred_s = limiter.barred_s(request);
  if (barred_s > 0 && !authenticator.holds(authorization)) return { barred_s };
  try {
    const answer = await authenticator.ofHeader(authorization);
    if (isRefused(answer) && answer.code === 'unauthorized') limiter.failed(request);
    return answer;
  } catch (thrown) {
    log.error({ err: thrown, requestId }, 'a key could not be looked up');
    return null;
  }
};

/** Takes one of the merchant's tokens, when the caller is a merchant's key; null for others, who are not limited. */
export const takeToken = async ({ holder }: Authenticated, limiter: RateLimiter): Promise<{ readonly limit: RateLimit; readonly taken: Taken } | null> =>
  holder ? { limit: holder.rateLimit, taken: await limiter.takeOf(holder) } : null;
