/**
 * Who calls the REST API. Every wrong key has one answer; a key comes in one header and nowhere
 * else.
 */
import type { FastifyRequest } from 'fastify';
import { authorizationOf, type Authenticator } from '../gateway/callers/authenticate.ts';
import type { ApiKeyHolder } from '../gateway/callers/caller.ts';
import { headerValues } from '../gateway/callers/header-values.ts';
import type { RateLimit } from '../gateway/callers/token-bucket.ts';
import type { KeyPrincipal } from '../subgraphs/platform/access/principal.ts';
import type { Logger } from '../subgraphs/platform/tracing/telemetry.ts';
import { refuse, type Refusal } from './refusal-http.ts';

/** A merchant's key, recognised. */
export interface Caller {
  readonly principal: KeyPrincipal;
  readonly holder: ApiKeyHolder;
  readonly rateLimit: RateLimit;
}

/** How often a header was sent. */
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
